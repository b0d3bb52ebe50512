//! Policies by their ids.

use crate::environment;
use crate::generators::Setting;
use spillway_settings::{ErrorKind, Section, SettingsError, nearest_name};
use spillway_switch::sharing::{Sharing, SharingPolicy};
use std::sync::Arc;

/// Reads the policy with this id and makes it, for [`environment`]. Predictions, one for every
/// arrival, replace the policy's oracle.
///
/// # Errors
/// If there is no such policy, or something is wrong with its keys. Also if it expels packets, or if
/// there are predictions, but the policy asks no oracle.
pub fn read_policy(
    id: &str,
    section: &mut Section,
    Setting { ports, buffer, seed }: Setting,
    predictions: Option<Vec<bool>>,
) -> Result<SharingPolicy, SettingsError> {
    if !SharingPolicy::IDS.contains(&id) {
        let problem = format!("there is no algorithm {id:?}");
        let ids = SharingPolicy::IDS.iter().copied();
        return Err(ErrorKind::WrongValue.at("", problem).hint(nearest_name(id, ids)));
    }
    let policy = SharingPolicy::read(id, section, &environment(ports, buffer, seed))?;
    if policy.expels() {
        let problem = format!("{id} expels packets between arrivals, which slots do not have");
        return Err(ErrorKind::Conflict.at("", problem));
    }
    let Some(predictions) = predictions else { return Ok(policy) };
    policy.with_predictions(predictions.into()).ok_or_else(|| {
        let hint = format!("these ask an oracle: {}", that_ask_an_oracle().join(", "));
        ErrorKind::Conflict.at("", format!("{id} takes no predictions")).hint(hint)
    })
}

/// The ids of the policies that take predictions.
fn that_ask_an_oracle() -> Vec<&'static str> {
    let environment = environment(1, 1, 0);
    let asks = |id: &str| {
        let policy = SharingPolicy::read(id, &mut Section::empty(), &environment).ok();
        policy.and_then(|policy| policy.with_predictions(Arc::default())).is_some()
    };
    SharingPolicy::IDS.iter().copied().filter(|id| asks(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, run_policy};

    fn read(id: &str, predictions: Option<Vec<bool>>) -> Result<SharingPolicy, SettingsError> {
        let setting = Setting { ports: 2, buffer: 4, seed: 1 };
        read_policy(id, &mut Section::empty(), setting, predictions)
    }

    fn refused(id: &str, predictions: Option<Vec<bool>>) -> String {
        read(id, predictions).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_policy_is_refused_with_the_nearest_id() {
        assert_eq!(
            refused("lqt", None),
            "there is no algorithm \"lqt\"\nhint: did you mean `lqd`?"
        );
    }

    #[test]
    fn a_policy_that_expels_is_refused() {
        let problem = "occamy expels packets between arrivals, which slots do not have";
        assert_eq!(refused("occamy", None), problem);
    }

    #[test]
    fn predictions_need_a_policy_that_asks_an_oracle() {
        assert_eq!(
            refused("dt", Some(vec![true])),
            "dt takes no predictions\nhint: these ask an oracle: credence, blind-trust"
        );
        assert!(read("dt", None).is_ok());
    }

    #[test]
    fn predictions_take_the_place_of_the_oracle() {
        let arrivals = Arrivals::of_slots(2, &[[0, 0, 1]]);
        let mut policy = read("blind-trust", Some(vec![false, true, false])).unwrap();
        let dropped = run_policy(&mut policy, 4, &arrivals).dropped;
        assert_eq!(dropped, [false, true, false]);
    }
}
