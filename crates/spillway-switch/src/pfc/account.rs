//! The accounts of one switch.

use super::{Crossing, LosslessParts, PauseChange, PauseThreshold};
use crate::low_pass::LowPass;
use crate::policy::LARGEST_PACKET;

/// The bytes that one account holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Account {
    /// Bytes in its reserve, and shared bytes that it uses.
    own: u64,
    /// Bytes in its headroom.
    headroom: u64,
    /// Whether it pauses its neighbour.
    is_paused: bool,
}

/// The accounts of all ports and lossless priorities, the priorities of a port side by side.
#[derive(Clone, Debug)]
pub struct Accounts {
    parts: LosslessParts,
    accounts: Box<[Account]>,
    /// The thresholds and headrooms of all accounts. Those of a port are the same.
    limits: Box<[(PauseThreshold, u64)]>,
    /// With this many shared bytes free, any packet of at most [`LARGEST_PACKET`] bytes may pass an
    /// account that holds nothing.
    open_from: u64,
    /// Over all accounts: bytes in reserves, shared bytes in use, and bytes in headrooms.
    reserved: u64,
    shared: u64,
    headroom: u64,
    /// The most that one account has had in its headroom.
    headroom_peak: u64,
    /// With [`PauseThreshold::Filtered`]: the filtered bytes of each account, what lies in its
    /// reserve left out.
    filtered: Option<LowPass>,
    changes: Vec<PauseChange>,
}

/// The shared bytes that must be free for a largest packet to stay below this threshold while it is
/// there, whatever is reserved.
fn open_from(threshold: PauseThreshold) -> u64 {
    let largest = u64::from(LARGEST_PACKET);
    match threshold {
        PauseThreshold::Bytes(bytes) if bytes > largest => 2 * largest,
        PauseThreshold::OfFree(alpha) => 2 * largest + ((largest + 1) as f64 / alpha).ceil() as u64,
        // It depends on the other accounts.
        PauseThreshold::Bytes(_) | PauseThreshold::Filtered(..) => u64::MAX,
    }
}

impl Accounts {
    /// Empty accounts.
    pub fn new(parts: LosslessParts) -> Accounts {
        let classes = parts.queue_classes.len();
        let accounts = parts.headroom.len() * classes;
        let filtered = match parts.thresholds.first() {
            Some(&PauseThreshold::Filtered(_, low_pass)) => {
                Some(LowPass::new(low_pass, accounts, classes))
            }
            _ => None,
        };
        let of_ports = parts.thresholds.iter().copied().zip(parts.headroom.iter().copied());
        let open_from = parts.thresholds.iter().map(|threshold| open_from(*threshold)).max();
        Accounts {
            open_from: open_from.unwrap_or(0),
            limits: of_ports.flat_map(|of_port| vec![of_port; classes]).collect(),
            parts,
            filtered,
            accounts: vec![Account::default(); accounts].into(),
            reserved: 0,
            shared: 0,
            headroom: 0,
            headroom_peak: 0,
            changes: Vec::new(),
        }
    }

    /// Their settings.
    pub fn parts(&self) -> &LosslessParts {
        &self.parts
    }

    /// The number of the account of a port and of the lossless priority with this place.
    #[inline]
    pub fn of(&self, port: u32, place: u8) -> u32 {
        port * self.parts.queue_classes.len() as u32 + u32::from(place)
    }

    /// The port and queue class of an account.
    pub fn port_of(&self, account: u32) -> (u32, u8) {
        let classes = self.parts.queue_classes.len() as u32;
        (account / classes, self.parts.queue_classes[(account % classes) as usize])
    }

    /// The threshold of an account in bytes if `free` shared bytes are free.
    #[inline]
    fn threshold(&self, account: u32, free: u64) -> u64 {
        let (threshold, _) = self.limits[account as usize];
        match (&self.filtered, threshold) {
            (Some(filtered), PauseThreshold::Filtered(alpha, _)) => {
                let class = account as usize % self.parts.queue_classes.len();
                filtered.threshold(alpha, class, free)
            }
            _ => threshold.bytes(free),
        }
    }

    /// Whether an account is over its threshold if it has so many shared bytes and `free` are free.
    #[inline]
    fn is_over(&self, account: u32, shared: u64, free: u64) -> bool {
        let threshold = self.threshold(account, free);
        match &self.filtered {
            None => shared >= threshold,
            Some(filtered) => filtered.length(account as usize) > threshold,
        }
    }

    /// The shared bytes that all accounts use.
    #[inline]
    pub fn shared(&self) -> u64 {
        self.shared
    }

    /// Bytes of reserves and headrooms that are not in use.
    pub fn unused(&self) -> u64 {
        self.parts.set_aside() - self.reserved - self.headroom
    }

    /// The most that one account has had in its headroom.
    pub fn headroom_peak(&self) -> u64 {
        self.headroom_peak
    }

    /// Bytes that an account holds.
    pub fn held(&self, account: u32) -> u64 {
        let Account { own, headroom, .. } = self.accounts[account as usize];
        own + headroom
    }

    /// Whether an account pauses its neighbour.
    pub fn is_paused(&self, account: u32) -> bool {
        self.accounts[account as usize].is_paused
    }

    /// Whether a packet that comes and leaves at once changes nothing, if `free` shared bytes are
    /// free.
    #[inline]
    pub fn lets_pass(&self, account: u32, size: u32, free: u64) -> bool {
        let Account { own, headroom, is_paused } = self.accounts[account as usize];
        if (own + headroom == 0) & !is_paused & (free >= self.open_from) & (size <= LARGEST_PACKET)
        {
            return true;
        }
        let shared = (own + u64::from(size)).saturating_sub(self.parts.reserve);
        // The bytes that the packet takes are not free while it is there.
        let free = free.saturating_sub(size.into());
        // What leaves an account with shared bytes changes its filtered bytes; else they are 0.
        let changes_none = self.filtered.is_none() || own <= self.parts.reserve;
        headroom == 0
            && !is_paused
            && changes_none
            && !self.is_over(account, shared, free)
            && shared <= free
    }

    /// Accounts for a packet of `size` bytes if there is room for it. Returns whether there is.
    /// `free` shared bytes are free.
    pub fn admit(&mut self, account: u32, size: u32, free: u64) -> bool {
        let LosslessParts { reserve, crossing, .. } = self.parts;
        let Account { own, headroom, is_paused } = self.accounts[account as usize];
        let size = u64::from(size);
        let after = own + size;
        let (had, has) = (own.saturating_sub(reserve), after.saturating_sub(reserve));
        let is_crossing = crossing == Crossing::Shared && !is_paused;
        let is_within = || match &self.filtered {
            None => has <= self.threshold(account, free),
            // As in Reverie, headroom that is in use takes what comes.
            Some(_) => headroom == 0 && !self.is_over(account, has, free.saturating_sub(has - had)),
        };
        let is_open = has == 0 || is_crossing || is_within();
        let taken = if is_open && has - had <= free { has - had } else { 0 };
        let of = &mut self.accounts[account as usize];
        if is_open && has - had <= free {
            of.own = after;
            self.shared += taken;
            self.reserved += size - taken;
        } else {
            if of.headroom + size > self.limits[account as usize].1 {
                return false;
            }
            of.headroom += size;
            self.headroom += size;
            self.headroom_peak = self.headroom_peak.max(of.headroom);
        }
        self.pause_if_due(account, free - taken);
        true
    }

    fn pause_if_due(&mut self, account: u32, free: u64) {
        let Account { own, headroom, is_paused } = self.accounts[account as usize];
        let shared = own.saturating_sub(self.parts.reserve);
        if !is_paused && (headroom > 0 || self.is_over(account, shared, free)) {
            self.accounts[account as usize].is_paused = true;
            self.change(account, true);
        }
    }

    /// A packet of `size` bytes has left. Before that, `free` shared bytes were free.
    pub fn release(&mut self, account: u32, size: u32, free: u64) {
        let LosslessParts { reserve, resume_offset, .. } = self.parts;
        let of = &mut self.accounts[account as usize];
        let size = u64::from(size);
        let from_headroom = size.min(of.headroom);
        of.headroom -= from_headroom;
        self.headroom -= from_headroom;
        let had = of.own.saturating_sub(reserve);
        of.own -= size - from_headroom;
        let has = of.own.saturating_sub(reserve);
        self.shared -= had - has;
        self.reserved -= size - from_headroom - (had - has);
        let Account { headroom, is_paused, .. } = *of;
        let length = self.filtered.as_mut().map_or(has, |filtered| {
            filtered.leaves(account as usize, has + headroom);
            filtered.length(account as usize)
        });
        let is_below = || length + resume_offset <= self.threshold(account, free + (had - has));
        if is_paused && headroom == 0 && (has == 0 || is_below()) {
            self.accounts[account as usize].is_paused = false;
            self.change(account, false);
        }
    }

    /// Whether an account would still pause its neighbour if only `stuck` of its bytes were left
    /// and `free` shared bytes were free. Filtered bytes depend on how the others leave, so there
    /// the answer is yes only if that does not matter.
    pub fn stays_paused(&self, account: u32, stuck: u64, free: u64) -> bool {
        let LosslessParts { reserve, resume_offset, .. } = self.parts;
        let Account { own, headroom, .. } = self.accounts[account as usize];
        // Packets that leave free headroom first.
        let left = headroom.saturating_sub(own + headroom - stuck);
        let shared = (stuck - left).saturating_sub(reserve);
        let is_filtered = self.filtered.is_some();
        let is_above = || shared + resume_offset > self.threshold(account, free);
        left > 0 || (!is_filtered && shared > 0 && is_above())
    }

    /// Whether an account pauses its neighbour and holds only bytes that are stuck, `stuck` of
    /// them. Such an account looks at its threshold again only when one of its own packets leaves.
    pub fn is_left_with(&self, account: u32, stuck: u64) -> bool {
        self.is_paused(account) && self.held(account) == stuck
    }

    /// Whether some account pauses its neighbour while some threshold is dynamic, or filtered bytes
    /// are held against it. Such a threshold may rise through other accounts. An account notices
    /// this only when one of its own packets leaves, so the last of these packets that is not stuck
    /// decides.
    pub fn is_left_paused(&self) -> bool {
        let is_dynamic = |of: &PauseThreshold| !matches!(of, PauseThreshold::Bytes(_));
        self.parts.thresholds.iter().any(is_dynamic) && self.accounts.iter().any(|of| of.is_paused)
    }

    /// The shared bytes that an account uses if it holds `stuck` bytes.
    pub fn shared_of(&self, stuck: u64) -> u64 {
        stuck.saturating_sub(self.parts.reserve)
    }

    /// The account of a port and a queue class, if that class is lossless.
    pub fn find(&self, port: u32, queue_class: u8) -> Option<u32> {
        let place = self.parts.queue_classes.iter().position(|&of| of == queue_class)?;
        Some(self.of(port, place as u8))
    }

    /// A port's link has failed: its accounts do not pause the neighbour any more.
    pub fn forget(&mut self, port: u32) {
        let classes = self.parts.queue_classes.len();
        let first = port as usize * classes;
        for account in &mut self.accounts[first..first + classes] {
            account.is_paused = false;
        }
    }

    fn change(&mut self, account: u32, pauses: bool) {
        let (port, queue_class) = self.port_of(account);
        self.changes.push(PauseChange { port, queue_class, pauses });
    }

    /// Whether anything has changed since the last call of `take_changes`.
    #[inline]
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Takes the changes since the last call.
    pub fn take_changes(&mut self) -> Vec<PauseChange> {
        std::mem::take(&mut self.changes)
    }

    /// Whether the sums agree with the accounts, and the accounts with these bytes; for tests.
    pub fn agrees(&self, held: &[u64]) -> bool {
        let reserve = self.parts.reserve;
        let sum = |of: &dyn Fn(&Account) -> u64| self.accounts.iter().map(of).sum::<u64>();
        let each = self.accounts.iter().zip(held).all(|(of, held)| of.own + of.headroom == *held);
        each && held.len() == self.accounts.len()
            && self.shared == sum(&|of| of.own.saturating_sub(reserve))
            && self.reserved == sum(&|of| of.own.min(reserve))
            && self.headroom == sum(&|of| of.headroom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::LowPassParams;
    use super::*;

    /// Two ports, priorities 1 and 3; reserves of 1,000 bytes, headrooms of 2,000 and 3,000.
    fn accounts(threshold: PauseThreshold, crossing: Crossing) -> Accounts {
        Accounts::new(LosslessParts {
            queue_classes: [1, 3].into(),
            thresholds: [threshold; 2].into(),
            resume_offset: 500,
            reserve: 1_000,
            headroom: [2_000, 3_000].into(),
            crossing,
            sees_all: false,
        })
    }

    fn change(port: u32, queue_class: u8, pauses: bool) -> PauseChange {
        PauseChange { port, queue_class, pauses }
    }

    /// Of 100,000 shared bytes, what accounts hold is not free.
    fn free(accounts: &Accounts) -> u64 {
        100_000 - accounts.shared()
    }

    fn admit(accounts: &mut Accounts, account: u32, sizes: &[u32]) -> Vec<bool> {
        let admit = |&size: &u32| accounts.admit(account, size, 100_000 - accounts.shared());
        sizes.iter().map(admit).collect()
    }

    fn release(accounts: &mut Accounts, account: u32, size: u32) {
        accounts.release(account, size, free(accounts));
    }

    #[test]
    fn set_aside_is_every_reserve_and_headroom() {
        let accounts = accounts(PauseThreshold::Bytes(2_000), Crossing::Shared);
        // 2 * (1,000 + 2,000) + 2 * (1,000 + 3,000).
        assert_eq!(accounts.parts().set_aside(), 14_000);
        assert_eq!((accounts.of(1, 0), accounts.port_of(2)), (2, (1, 1)));
        assert_eq!((accounts.of(1, 1), accounts.port_of(3)), (3, (1, 3)));
    }

    /// Account 0, threshold 2,000: the reserve holds 1,000, so shared bytes reach 2,000 with 3,000.
    #[test]
    fn an_account_takes_reserve_then_shared_then_headroom() {
        let mut accounts = accounts(PauseThreshold::Bytes(2_000), Crossing::Shared);
        assert_eq!(admit(&mut accounts, 0, &[900, 900]), [true; 2]);
        // 1,000 reserved and 800 shared.
        assert_eq!((accounts.shared(), accounts.unused()), (800, 13_000));
        assert!(!accounts.has_changes());
        // 1,700 shared; then 2,600, over the threshold: the packet that crosses is still there.
        assert_eq!(admit(&mut accounts, 0, &[900]), [true]);
        assert!(!accounts.has_changes());
        assert_eq!(admit(&mut accounts, 0, &[900]), [true]);
        assert_eq!((accounts.shared(), accounts.headroom_peak()), (2_600, 0));
        assert_eq!(accounts.take_changes(), [change(0, 1, true)]);
        // What comes after it goes into headroom: two fit, the third does not.
        assert_eq!(admit(&mut accounts, 0, &[900, 900, 900]), [true, true, false]);
        assert_eq!((accounts.shared(), accounts.headroom_peak()), (2_600, 1_800));
        assert!(accounts.agrees(&[3_600 + 1_800, 0, 0, 0]) && !accounts.has_changes());
        // Headroom empties first. 1,700 shared and 500 are more than 2,000; 800 and 500 are not.
        (0..3).for_each(|_| release(&mut accounts, 0, 900));
        assert_eq!((accounts.shared(), accounts.has_changes()), (1_700, false));
        release(&mut accounts, 0, 900);
        assert_eq!(accounts.take_changes(), [change(0, 1, false)]);
        (0..2).for_each(|_| release(&mut accounts, 0, 900));
        assert!(accounts.agrees(&[0; 4]) && accounts.unused() == 14_000);
    }

    #[test]
    fn a_packet_that_reaches_the_threshold_pauses() {
        let mut accounts = accounts(PauseThreshold::Bytes(2_000), Crossing::Headroom);
        assert_eq!(admit(&mut accounts, 3, &[1_500, 1_499]), [true; 2]);
        assert!(!accounts.has_changes());
        assert!(!accounts.lets_pass(3, 1, free(&accounts)));
        assert_eq!(admit(&mut accounts, 3, &[1]), [true]);
        assert_eq!(accounts.take_changes(), [change(1, 3, true)]);
    }

    #[test]
    fn a_packet_that_crosses_may_go_into_headroom() {
        let mut accounts = accounts(PauseThreshold::Bytes(2_000), Crossing::Headroom);
        assert_eq!(admit(&mut accounts, 0, &[1_500, 1_400, 101]), [true; 3]);
        assert_eq!((accounts.shared(), accounts.headroom_peak()), (1_900, 101));
        assert_eq!(accounts.take_changes(), [change(0, 1, true)]);
        // A smaller one still fits below the threshold.
        assert_eq!(admit(&mut accounts, 0, &[100]), [true]);
        assert_eq!((accounts.shared(), accounts.headroom_peak()), (2_000, 101));
    }

    /// What passes unasked changes nothing if it is accounted for, neither at once nor afterwards.
    #[test]
    fn from_what_is_open_a_largest_packet_passes() {
        let alphas = [0.001, 0.125, 0.5, 1.0, 64.0].map(PauseThreshold::OfFree);
        let largest = u64::from(LARGEST_PACKET);
        let bytes = [largest, largest + 1, 100_000].map(PauseThreshold::Bytes);
        let mut opens = 0;
        for threshold in alphas.into_iter().chain(bytes).chain([FILTERED]) {
            for reserve in [0, 1_000] {
                let parts = accounts(threshold, Crossing::Headroom).parts;
                let mut accounts = Accounts::new(LosslessParts { reserve, ..parts });
                let free = accounts.open_from;
                if free == u64::MAX {
                    continue;
                }
                opens += 1;
                assert!(accounts.lets_pass(0, LARGEST_PACKET, free));
                assert!(accounts.admit(0, LARGEST_PACKET, free) && !accounts.has_changes());
                assert_eq!(accounts.headroom_peak(), 0);
                accounts.release(0, LARGEST_PACKET, free - accounts.shared());
                assert!(!accounts.has_changes() && accounts.agrees(&[0; 4]));
            }
        }
        assert_eq!(opens, 2 * 7);
    }

    /// Alpha 1/2. With 30,000 free bytes an account may use 15,000 shared bytes, and the bytes that
    /// it uses are not free.
    #[test]
    fn a_dynamic_threshold_follows_what_is_free() {
        let mut accounts = accounts(PauseThreshold::OfFree(0.5), Crossing::Shared);
        assert!(accounts.admit(0, 10_000, 30_000));
        // 9,000 shared; half of the 21,000 left is 10,500.
        assert!(!accounts.has_changes());
        // Others take 4,000: half of 17,000 is 8,500, less than it has. It notices this with its
        // next packet.
        assert!(accounts.admit(0, 100, 17_000));
        assert_eq!(accounts.take_changes(), [change(0, 1, true)]);
        assert_eq!((accounts.shared(), accounts.headroom_peak()), (9_100, 0));
        // With 9,000 shared and 18,000 free, half of that less 500 is 8,500: not low enough. With
        // 8,000 shared and 19,000 free it is 9,000.
        accounts.release(0, 100, 17_900);
        assert!(!accounts.has_changes());
        accounts.release(0, 1_000, 18_000);
        assert_eq!(accounts.take_changes(), [change(0, 1, false)]);
    }

    /// An account pauses with 4,000 shared bytes when 8,000 are free, since half of that is 4,000.
    /// Later 90,000 are free. With 4,000 bytes it could let its neighbour go on. But it looks at
    /// its threshold only when one of its own packets leaves. So it goes on only if a packet is
    /// left that is not stuck.
    #[test]
    fn a_paused_account_that_nothing_leaves_stays_paused() {
        let mut accounts = accounts(PauseThreshold::OfFree(0.5), Crossing::Shared);
        assert!(accounts.admit(0, 5_000, 12_000) && accounts.is_paused(0));
        assert!(accounts.is_left_paused());
        let stays = |stuck| accounts.stays_paused(0, stuck, 90_000);
        assert_eq!([stays(5_000), stays(4_000)], [false; 2]);
        assert_eq!([5_000, 4_000].map(|stuck| accounts.is_left_with(0, stuck)), [true, false]);
        // Half of 4,000 is less than 3,000 and the offset.
        assert!(accounts.stays_paused(0, 4_000, 4_000));
        accounts.release(0, 1_000, 86_000);
        assert!(!accounts.is_paused(0) && !accounts.is_left_paused());
        // An account that does not pause looks at its threshold with every packet that comes.
        assert!(!accounts.is_left_with(0, 4_000));
    }

    /// Alpha 1, gamma 1/2; 2,000 filtered bytes count as one.
    const FILTERED: PauseThreshold =
        PauseThreshold::Filtered(1.0, LowPassParams { gamma: 0.5, saturation: 2_000 });

    #[test]
    fn a_burst_does_not_pause_and_filtered_bytes_over_the_shared_threshold_do() {
        let mut accounts = accounts(FILTERED, Crossing::Headroom);
        // 4,000 shared bytes, and T = 2,000. But nothing has left, so x = 0.
        assert!(accounts.admit(0, 5_000, 6_000));
        // x = 3,000 / 2.
        accounts.release(0, 1_000, 2_000);
        // T = 2,000.
        assert!(accounts.admit(0, 1_000, 3_000));
        // Account 2 has the same priority. It has x = 2,000 / 2, so n = (1,500 + 1,000) / 2,000.
        assert!(accounts.admit(2, 4_000, 5_000));
        accounts.release(2, 1_000, 2_000);
        // The other priority has n = 1.
        assert!(accounts.admit(1, 1_100, 5_000) && !accounts.has_changes());
        // T = 1,875 / 1.25 = 1,500 with the packet, and then a byte less.
        assert!(accounts.admit(0, 100, 1_975));
        assert_eq!((accounts.has_changes(), accounts.headroom_peak()), (false, 0));
        assert!(accounts.admit(0, 100, 1_974));
        assert_eq!(accounts.take_changes(), [change(0, 1, true)]);
        assert_eq!((accounts.headroom_peak(), accounts.held(0)), (100, 5_200));
        // 3,200 shared bytes are left: x = 1,500 + 1,700 / 2 = 2,350, which counts as one. n = 1.5.
        accounts.release(0, 1_000, 1_874);
        // 2,000 are left: x = 2,000. With the offset T must be 2,500: 3,750 must be free.
        accounts.release(0, 1_200, 2_549);
        assert!(accounts.is_paused(0));
        let mut later = accounts.clone();
        later.release(0, 0, 3_749);
        assert!(later.is_paused(0));
        accounts.release(0, 0, 3_750);
        assert_eq!(accounts.take_changes(), [change(0, 1, false)]);
        // Without shared bytes it goes on whatever is free.
        later.release(0, 2_000, 0);
        assert!(!later.is_paused(0) && later.held(0) == 1_000);
    }

    #[test]
    fn the_packet_that_finds_filtered_bytes_over_the_threshold_may_be_shared() {
        let mut accounts = accounts(FILTERED, Crossing::Shared);
        assert!(accounts.admit(0, 5_000, 9_000));
        accounts.release(0, 1_000, 5_000);
        // x = 1,500, T = 1,499.
        assert!(accounts.admit(0, 1_000, 2_499));
        assert_eq!(accounts.take_changes(), [change(0, 1, true)]);
        assert_eq!((accounts.shared(), accounts.headroom_peak()), (4_000, 0));
        // So is what finds a higher threshold; what does not takes headroom, and then so does all.
        for (free, expected) in
            [(2_500, (5_000, 0)), (2_499, (5_000, 1_000)), (90_000, (5_000, 2_000))]
        {
            assert!(accounts.admit(0, 1_000, free));
            assert_eq!((accounts.shared(), accounts.headroom_peak()), expected, "{free}");
        }
    }

    /// Filtered bytes depend on the order in which packets leave, so an account is known to stay
    /// paused only if stuck packets are in its headroom.
    #[test]
    fn an_account_with_filtered_bytes_may_go_on_as_long_as_it_holds_other_packets() {
        let mut accounts = accounts(FILTERED, Crossing::Headroom);
        assert!(accounts.admit(0, 5_000, 6_000));
        accounts.release(0, 1_000, 2_000);
        // A packet that passes an account with shared bytes would change its filtered bytes.
        assert!(!accounts.lets_pass(0, 100, 90_000) && accounts.lets_pass(2, 100, 90_000));
        assert!(accounts.admit(0, 1_000, 1_000) && accounts.is_left_paused());
        let stays = |stuck| accounts.stays_paused(0, stuck, 0);
        assert_eq!([stays(5_000), stays(4_001), stays(4_000)], [true, true, false]);
        assert_eq!([5_000, 4_000].map(|stuck| accounts.is_left_with(0, stuck)), [true, false]);
    }

    #[test]
    fn where_nothing_shared_is_free_an_account_pauses_at_once_and_uses_headroom() {
        let mut accounts = accounts(PauseThreshold::OfFree(1.0), Crossing::Shared);
        assert!(accounts.admit(0, 600, 0));
        assert_eq!(accounts.take_changes(), [change(0, 1, true)]);
        // 400 bytes of the reserve are left: the packet does not fit, and nothing is shared.
        assert!(accounts.admit(0, 600, 0));
        assert_eq!((accounts.shared(), accounts.headroom_peak()), (0, 600));
        accounts.release(0, 600, 0);
        assert_eq!(accounts.take_changes(), [change(0, 1, false)]);
    }

    /// Port 1 has twice the alpha of port 0: x bytes pause it where x >= (10,000 - x) / 2, and
    /// those of port 0 where x >= (10,000 - x) / 4.
    #[test]
    fn every_port_has_a_threshold_of_its_own() {
        let mut parts = accounts(PauseThreshold::OfFree(0.25), Crossing::Shared).parts;
        parts.thresholds[1] = PauseThreshold::OfFree(0.5);
        let pauses = |account: u32, shared: u32| {
            let mut accounts = Accounts::new(parts.clone());
            // The reserve holds 1,000 of them.
            accounts.admit(account, 1_000 + shared, 10_000);
            accounts.has_changes()
        };
        assert_eq!([pauses(0, 1_999), pauses(0, 2_000)], [false, true]);
        assert_eq!([pauses(2, 3_332), pauses(2, 3_334)], [false, true]);
    }

    #[test]
    fn a_link_that_fails_ends_the_pauses_of_its_port() {
        let mut accounts = accounts(PauseThreshold::Bytes(2_000), Crossing::Shared);
        admit(&mut accounts, 2, &[3_000]);
        admit(&mut accounts, 1, &[3_000]);
        accounts.take_changes();
        accounts.forget(1);
        assert_eq!([1, 2].map(|account| accounts.is_paused(account)), [true, false]);
        // The next packet pauses again.
        admit(&mut accounts, 2, &[100]);
        assert_eq!(accounts.take_changes(), [change(1, 1, true)]);
    }
}
