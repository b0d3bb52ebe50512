// Stock ns-3 on two of Spillway's scenarios: see the README.

#include "scenarios.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

/// ns-3 takes `--name=value` alone; this lets `--name value` be written as well.
static std::vector<std::string> JoinValues(int argc, char* argv[])
{
    std::vector<std::string> joined;
    for (int i = 0; i < argc; ++i) {
        bool isValue = i > 1 && argv[i][0] != '-' && joined.back().find('=') == std::string::npos;
        isValue ? void(joined.back() += std::string("=") + argv[i]) : joined.push_back(argv[i]);
    }
    return joined;
}

int main(int argc, char* argv[])
{
    const char* usage = "spillway-ns3 incast-star [--duration-ms 100]\n"
                        "spillway-ns3 leaf-spine-128 --flows FILE.csv [--fct-out FILE.csv] [--max-flows N] "
                        "[--stop-ms T] [--count-hops]\n"
                        "either: [--threshold 70] [--hosts-mark] [--scheduler ns3::MapScheduler] [--json]";
    bool incast = argc > 1 && !std::strcmp(argv[1], "incast-star");
    if (!incast && !(argc > 1 && !std::strcmp(argv[1], "leaf-spine-128"))) {
        std::fprintf(stderr, "%s\n", usage);
        return 2;
    }
    bench::Settings settings;
    bench::IncastOptions star;
    bench::LeafSpineOptions fabric;
    bool json = true;
    ns3::CommandLine line;
    line.Usage(usage);
    line.AddValue("threshold", "packets in a queue disc at which it marks", settings.threshold);
    line.AddValue("hosts-mark", "whether hosts have the queue disc of switches' ports, too", settings.hostsMark);
    line.AddValue("scheduler", "ns-3's event queue", settings.scheduler);
    line.AddValue("json", "the only output there is", json);
    if (incast) {
        line.AddValue("duration-ms", "simulated time", star.durationMs);
    } else {
        line.AddValue("flows", "CSV: src,dst,size_bytes,start_ns,path,ack_path", fabric.flows);
        line.AddValue("fct-out", "CSV to write: flow,fct_ns", fabric.fctOut);
        line.AddValue("max-flows", "take only the first of the list", fabric.maxFlows);
        line.AddValue("stop-ms", "simulated time to stop at (0: when all have finished)", fabric.stopMs);
        line.AddValue("count-hops", "count packet-hops and events (not for timing)", fabric.countHops);
    }
    line.Parse(JoinValues(argc - 1, argv + 1));
    try {
        bench::SetDefaults(settings);
        incast ? bench::RunIncastStar(settings, star) : bench::RunLeafSpine128(settings, fabric);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
