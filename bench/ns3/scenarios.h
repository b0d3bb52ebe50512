#pragma once

#include "fabric.h"

namespace bench {

struct IncastOptions {
    double durationMs = 100;
    uint32_t senders = 16;
};

struct LeafSpineOptions {
    std::string flows;
    std::string fctOut;
    uint64_t maxFlows = UINT64_MAX;
    double stopMs = 0;  // 0: when all flows have finished
    bool countHops = false;
};

/// Each runs its scenario and prints one JSON object to standard output.
void RunIncastStar(const Settings& settings, const IncastOptions& options);
void RunLeafSpine128(const Settings& settings, const LeafSpineOptions& options);

}  // namespace bench
