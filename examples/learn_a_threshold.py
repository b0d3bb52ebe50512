"""Learns how long a queue may grow before packets are marked, in less than a minute.

Sixteen senders share a port of 10 Gbps (the scenario `pred-incast`, with DCTCP and one ECN
threshold). Every 206 us the agent sets the threshold of that port, by the queue of the interval
before. It learns by Q-learning with a table: the state is which of six ranges the mean queue was
in. What it has learned is compared with every fixed threshold, on seeds that it has not seen.

Run it with the extra `rl` installed: python examples/learn_a_threshold.py
"""

import sys

import gymnasium
import numpy as np

from spillway.learning.gym import Table

PORT = "switch.leaf0.port.0"
THRESHOLDS = ["2pkt", "5pkt", "10pkt", "20pkt", "50pkt", "100pkt", "200pkt"]
EDGES = np.array([3e3, 10e3, 25e3, 60e3, 150e3])
"""The mean queues, in bytes, at which states end."""
STEPS = 100
"""Steps of an episode."""


def environment() -> gymnasium.Env:
    """The port, PRED's utility as the reward, and an action for each threshold."""
    return gymnasium.make(
        "spillway.learning.gym:Spillway-v0",
        scenario="pred-incast",
        set=["switch.aqm=ecn", "duration=100ms"],
        actions=Table(["aqm.threshold"], [[threshold] for threshold in THRESHOLDS]),
        at=PORT,
        signals={"queue": f"{PORT}.mean_queue_bytes", "sent": f"{PORT}.sent_bytes"},
        observation=["queue"],
        # The port can send 257,500 bytes in an interval; a queue of up to 22,500 bytes is short.
        reward="0.4 * sum(sent) / 257500 + 0.6 * (1 - max(sum(queue) - 22500, 0) / 477500)",
        interval="206us",
        begin="2ms",
        steps=STEPS,
        seeds=range(1, 17),
    )


def state_of(observation: np.ndarray) -> int:
    """Which range the mean queue is in."""
    return int(np.searchsorted(EDGES, observation[0]))


def learn(env: gymnasium.Env, episodes: int, random: np.random.Generator) -> np.ndarray:
    """Q-learning: Q(s, a) += rate (reward + discount max Q(s', .) - Q(s, a)); rates fall."""
    discount = 0.9
    q = np.zeros((len(EDGES) + 1, len(THRESHOLDS)))
    visits = np.zeros_like(q)
    env.reset(seed=1)
    for episode in range(episodes):
        explores = max(0.05, 1.0 - episode / (0.6 * episodes))
        observation, _ = env.reset()
        state, is_over = state_of(observation), False
        while not is_over:
            if random.uniform() < explores:
                action = int(random.integers(len(THRESHOLDS)))
            else:
                action = int(q[state].argmax())
            observation, reward, terminated, truncated, _ = env.step(action)
            following, is_over = state_of(observation), terminated or truncated
            target = reward + discount * q[following].max() * (not terminated)
            visits[state, action] += 1
            q[state, action] += (target - q[state, action]) / visits[state, action] ** 0.7
            state = following
    return q


def evaluate(env: gymnasium.Env, policy: np.ndarray) -> np.ndarray:
    """The mean reward of a policy, an action for every state, on each of the unseen seeds."""
    means = []
    for seed in range(101, 117):
        observation, _ = env.reset(options={"seed": seed})
        rewards, is_over = [], False
        while not is_over:
            observation, reward, terminated, truncated, _ = env.step(policy[state_of(observation)])
            rewards.append(reward)
            is_over = terminated or truncated
        means.append(np.mean(rewards))
    return np.array(means)


def told(rewards: np.ndarray) -> str:
    """The mean over seeds, and its standard error."""
    return f"{rewards.mean():.4f} ± {rewards.std(ddof=1) / np.sqrt(len(rewards)):.4f}"


def main() -> None:
    """Learns, and prints what it has come to."""
    env = environment()
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    learned = learn(env, episodes, np.random.default_rng(1)).argmax(axis=1)
    print("reward on unseen seeds, and its standard error:")
    fixed = {}
    for action, threshold in enumerate(THRESHOLDS):
        fixed[threshold] = evaluate(env, np.full(len(EDGES) + 1, action))
        print(f"  always {threshold:>6}    {told(fixed[threshold])}")
    rewards = evaluate(env, learned)
    print(f"  learned          {told(rewards)}")
    best = max(fixed, key=lambda threshold: fixed[threshold].mean())
    print(f"learned less always {best}, seed by seed: {told(rewards - fixed[best])}")
    print("by the mean queue:", ", ".join(THRESHOLDS[action] for action in learned))


if __name__ == "__main__":
    main()
