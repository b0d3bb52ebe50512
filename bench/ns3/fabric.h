// What both scenarios are built from: links, switches' queues, TCP's settings and static routing.

#pragma once

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

constexpr uint16_t kServerPort = 5000;
constexpr uint32_t kSegmentSize = 1448;

struct Settings {
    std::string rate = "10Gbps";
    std::string delay = "10us";
    uint32_t threshold = 70;      // packets in a queue disc at which it marks
    uint32_t queueLimit = 1000;   // packets in a queue disc
    bool hostsMark = false;       // whether hosts have a queue disc, too
    std::string scheduler = "ns3::MapScheduler";
};

/// Hosts are numbered from 0; their addresses follow one another.
ns3::Ipv4Address AddressOf(uint32_t host);
uint32_t HostOf(ns3::Ipv4Address address);

/// The uplink that each flow takes, by addresses and ports; each direction is a flow of its own.
class Paths {
  public:
    void Set(uint32_t from, uint32_t to, uint16_t fromPort, uint16_t toPort, uint8_t uplink);
    uint8_t Get(uint32_t from, uint32_t to, uint16_t fromPort, uint16_t toPort) const;

  private:
    struct Hash {
        size_t operator()(uint64_t key) const { return key * 0x9e3779b97f4a7c15u >> 20; }
    };
    std::unordered_map<uint64_t, uint8_t, Hash> m_uplinks;
};

/// Static routing: a port for every host, or the uplink that Paths names. (ns-3's own global
/// routing takes one of several equal paths for all packets, or a random one for each.)
class FabricRouting : public ns3::Ipv4RoutingProtocol {
  public:
    static ns3::TypeId GetTypeId();

    /// The device towards `host`.
    void SetDirect(uint32_t host, ns3::Ptr<ns3::NetDevice> device);
    /// For all other hosts: `paths` picks among the devices added here, in order.
    void AddUplink(ns3::Ptr<ns3::NetDevice> device);
    void SetPaths(const Paths* paths) { m_paths = paths; }
    /// Makes this the routing of a host, which sends all by `device` and keeps what is for it.
    void SetHost(uint32_t host, ns3::Ptr<ns3::NetDevice> device);

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet>, const ns3::Ipv4Header&,
                                         ns3::Ptr<ns3::NetDevice>,
                                         ns3::Socket::SocketErrno& error) override;
    bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device, UnicastForwardCallback forward,
                    MulticastForwardCallback, LocalDeliverCallback deliver,
                    ErrorCallback) override;
    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override { m_ipv4 = ipv4; }
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

  private:
    ns3::Ptr<ns3::Ipv4> m_ipv4;
    ns3::Ipv4Address m_own = ns3::Ipv4Address::GetAny();
    std::vector<ns3::Ptr<ns3::Ipv4Route>> m_direct;    // by host; null: by an uplink
    std::vector<ns3::Ptr<ns3::Ipv4Route>> m_uplinks;
    const Paths* m_paths = nullptr;
};

/// Defaults of every attribute that differs from stock or that a result hangs on.
void SetDefaults(const Settings& settings);

/// Nodes with an IPv4 stack under FabricRouting.
ns3::NodeContainer MakeNodes(uint32_t count);
ns3::Ptr<FabricRouting> RoutingOf(ns3::Ptr<ns3::Node> node);

/// A full-duplex link; [0] is the device at `a`. Each end's queueing is set apart.
ns3::NetDeviceContainer Link(const Settings& settings, ns3::Ptr<ns3::Node> a,
                             ns3::Ptr<ns3::Node> b);
/// Attaches host number `host`: a NIC that holds any number of packets (or, if hosts mark, has the queue
/// of a switch's port), a switch's port behind it.
/// Returns the switch's queue disc towards the host.
ns3::Ptr<ns3::QueueDisc> AttachHost(const Settings& settings, uint32_t host,
                                    ns3::Ptr<ns3::Node> node, ns3::Ptr<ns3::Node> onSwitch);
/// A port with a queue disc: threshold marking, tail drop.
ns3::Ptr<ns3::QueueDisc> MakePort(const Settings& settings, ns3::Ptr<ns3::NetDevice> device);

/// Marks and drops of all queue discs made so far, how many of the marks are hosts'; retransmission timeouts of watched sockets.
struct Counters {
    uint64_t marks = 0;
    uint64_t hostMarks = 0;
    uint64_t drops = 0;
    uint64_t timeouts = 0;
};
Counters CountersNow();
void WatchTimeouts(ns3::Ptr<ns3::Socket> socket);

double UserSeconds();
double PeakRssMb();

}  // namespace bench
