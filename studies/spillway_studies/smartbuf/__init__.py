"""Smartbuf (IWQoS 2021)."""
