// Flows from a list through 16 leaves and 8 spines, each on the path that the list says.

#include "scenarios.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <stdexcept>

using namespace ns3;

namespace bench {

namespace {

constexpr uint32_t kLeaves = 16;
constexpr uint32_t kHostsPerLeaf = 8;
constexpr uint32_t kSpines = 8;
constexpr uint32_t kHosts = kLeaves * kHostsPerLeaf;
constexpr uint32_t kSmallFlow = 100'000;
constexpr uint16_t kFirstClientPort = 10'000;

struct Flow {
    uint32_t src;
    uint32_t dst;
    uint32_t size;
    int64_t startNs;
    uint32_t path;
    uint32_t ackPath;
    uint16_t port = 0;
    uint32_t received = 0;
    Time fct = Time(-1);  // negative: not finished
};

std::vector<Flow> ReadFlows(const std::string& file, uint64_t most)
{
    std::ifstream in(file);
    if (!in) {
        throw std::runtime_error("--flows: cannot read '" + file + "'");
    }
    std::string line;
    if (!std::getline(in, line) || line.rfind("src,dst,size_bytes,start_ns,path,ack_path", 0) != 0) {
        throw std::runtime_error(file + ": expected the header src,dst,size_bytes,start_ns,path,ack_path");
    }
    std::vector<Flow> flows;
    while (flows.size() < most && std::getline(in, line)) {
        Flow flow{};
        long start = 0;
        if (std::sscanf(line.c_str(), "%u,%u,%u,%ld,%u,%u", &flow.src, &flow.dst, &flow.size, &start,
                        &flow.path, &flow.ackPath) != 6 ||
            flow.src >= kHosts || flow.dst >= kHosts || flow.src == flow.dst || flow.size == 0) {
            throw std::runtime_error(file + ": flow " + std::to_string(flows.size()) +
                                     ": cannot use: " + line);
        }
        flow.startNs = start;
        flows.push_back(flow);
    }
    return flows;
}

class Run {
  public:
    Run(const Settings& settings, std::vector<Flow> flows);
    void Start(double stopMs);
    void CountHops();

    const std::vector<Flow>& Flows() const { return m_flows; }
    uint64_t Completed() const { return m_completed; }
    uint64_t Hops() const { return m_hops; }

  private:
    void Wire(const Settings& settings);
    void Schedule();
    void StartFlow();
    void Accept(Ptr<Socket> socket, const Address& from);
    static void Receive(Run* run, Flow* flow, Ptr<Socket> socket);
    static void CloseToo(Ptr<Socket> socket) { socket->Close(); }
    void OnTransmission(Ptr<const Packet>) { ++m_hops; }

    NodeContainer m_hosts, m_leaves, m_spines;
    Paths m_paths;
    std::vector<Flow> m_flows;
    std::vector<uint32_t> m_order;  // of starting
    size_t m_started = 0;
    uint64_t m_completed = 0;
    uint64_t m_hops = 0;
    std::unordered_map<uint32_t, Flow*> m_byClient;  // by host and port
    std::vector<Ptr<Socket>> m_listeners;
};

Run::Run(const Settings& settings, std::vector<Flow> flows)
    : m_flows(std::move(flows)), m_order(m_flows.size())
{
    Wire(settings);
    std::vector<uint32_t> ports(kHosts, kFirstClientPort);
    for (auto& flow : m_flows) {
        if (ports[flow.src] > UINT16_MAX) {
            throw std::runtime_error("more flows from one host than it has ports");
        }
        flow.port = ports[flow.src]++;
        m_byClient[flow.src << 16 | flow.port] = &flow;
        m_paths.Set(flow.src, flow.dst, flow.port, kServerPort, flow.path % kSpines);
        m_paths.Set(flow.dst, flow.src, kServerPort, flow.port, flow.ackPath % kSpines);
    }
    for (uint32_t host = 0; host < kHosts; ++host) {
        auto listener = Socket::CreateSocket(m_hosts.Get(host), TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), kServerPort));
        listener->Listen();
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeCallback(&Run::Accept, this));
        m_listeners.push_back(listener);
    }
    std::iota(m_order.begin(), m_order.end(), 0);
    std::stable_sort(m_order.begin(), m_order.end(), [this](uint32_t a, uint32_t b) {
        return m_flows[a].startNs < m_flows[b].startNs;
    });
}

void Run::Wire(const Settings& settings)
{
    m_hosts = MakeNodes(kHosts);
    m_leaves = MakeNodes(kLeaves);
    m_spines = MakeNodes(kSpines);
    for (uint32_t host = 0; host < kHosts; ++host) {
        AttachHost(settings, host, m_hosts.Get(host), m_leaves.Get(host / kHostsPerLeaf));
    }
    for (uint32_t leaf = 0; leaf < kLeaves; ++leaf) {
        RoutingOf(m_leaves.Get(leaf))->SetPaths(&m_paths);
        for (uint32_t spine = 0; spine < kSpines; ++spine) {
            auto ends = Link(settings, m_leaves.Get(leaf), m_spines.Get(spine));
            MakePort(settings, ends.Get(0));
            MakePort(settings, ends.Get(1));
            RoutingOf(m_leaves.Get(leaf))->AddUplink(ends.Get(0));
            for (uint32_t index = 0; index < kHostsPerLeaf; ++index) {
                RoutingOf(m_spines.Get(spine))->SetDirect(leaf * kHostsPerLeaf + index, ends.Get(1));
            }
        }
    }
}

void Run::CountHops()
{
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node) {
        for (uint32_t i = 0; i < (*node)->GetNDevices(); ++i) {
            auto device = DynamicCast<PointToPointNetDevice>((*node)->GetDevice(i));
            if (device) {
                device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Run::OnTransmission, this));
            }
        }
    }
}

void Run::Start(double stopMs)
{
    if (stopMs > 0) {
        Simulator::Stop(MicroSeconds(stopMs * 1000));
    }
    Schedule();
    Simulator::Run();
}

/// One flow's start is pending at a time, so that the list does not fill the event queue.
void Run::Schedule()
{
    if (m_started < m_order.size()) {
        Time start = NanoSeconds(m_flows[m_order[m_started]].startNs);
        Simulator::Schedule(start - Simulator::Now(), &Run::StartFlow, this);
    }
}

void Run::StartFlow()
{
    const Flow& flow = m_flows[m_order[m_started++]];
    auto socket = Socket::CreateSocket(m_hosts.Get(flow.src), TcpSocketFactory::GetTypeId());
    WatchTimeouts(socket);
    socket->Bind(InetSocketAddress(AddressOf(flow.src), flow.port));
    socket->Connect(InetSocketAddress(AddressOf(flow.dst), kServerPort));
    // All at once: the send buffer takes it, and splits it into segments when it may send them.
    socket->Send(Create<Packet>(flow.size));
    socket->Close();
    Schedule();
}

void Run::Accept(Ptr<Socket> socket, const Address& from)
{
    auto client = InetSocketAddress::ConvertFrom(from);
    Flow* flow = m_byClient.at(HostOf(client.GetIpv4()) << 16 | client.GetPort());
    socket->SetRecvCallback(MakeBoundCallback(&Run::Receive, this, flow));
    socket->SetCloseCallbacks(MakeCallback(&Run::CloseToo), MakeCallback(&Run::CloseToo));
}

void Run::Receive(Run* run, Flow* flow, Ptr<Socket> socket)
{
    while (auto packet = socket->Recv()) {
        flow->received += packet->GetSize();
    }
    if (flow->received == flow->size && flow->fct.IsNegative()) {
        flow->fct = Simulator::Now() - NanoSeconds(flow->startNs);
        if (++run->m_completed == run->m_flows.size()) {
            Simulator::Stop();
        }
    }
}

/// The smallest value that at least a share `p` of all are not above, in microseconds.
double Percentile(const std::vector<double>& sorted, double p)
{
    return sorted.empty() ? 0 : sorted[static_cast<size_t>(std::ceil(sorted.size() * p)) - 1] / 1e3;
}

/// The mean in microseconds.
double Mean(const std::vector<double>& times)
{
    return times.empty() ? 0 : std::accumulate(times.begin(), times.end(), 0.0) / times.size() / 1e3;
}

/// Completion times in nanoseconds, in order; an unfinished flow counts with the time it has waited.
std::vector<double> TimesOf(const std::vector<Flow>& flows, uint32_t atMost)
{
    std::vector<double> times;
    double now = Simulator::Now().GetPicoSeconds() / 1e3;
    for (const auto& flow : flows) {
        if (flow.size <= atMost && flow.startNs <= now) {
            times.push_back(flow.fct.IsNegative() ? now - flow.startNs : flow.fct.GetPicoSeconds() / 1e3);
        }
    }
    std::sort(times.begin(), times.end());
    return times;
}

void WriteTimes(const std::string& file, const std::vector<Flow>& flows)
{
    std::ofstream out(file);
    out << "flow,fct_ns\n" << std::fixed;
    out.precision(1);
    for (size_t i = 0; i < flows.size(); ++i) {
        out << i << ',';
        if (!flows[i].fct.IsNegative()) {
            out << flows[i].fct.GetPicoSeconds() / 1e3;
        }
        out << '\n';
    }
    if (!out) {
        throw std::runtime_error("cannot write " + file);
    }
}

}  // namespace

void RunLeafSpine128(const Settings& settings, const LeafSpineOptions& options)
{
    Run run(settings, ReadFlows(options.flows, options.maxFlows));
    if (options.countHops) {
        run.CountHops();
    }
    double before = UserSeconds();
    run.Start(options.stopMs);
    double cpu = UserSeconds() - before;
    if (!options.fctOut.empty()) {
        WriteTimes(options.fctOut, run.Flows());
    }
    auto all = TimesOf(run.Flows(), UINT32_MAX);
    auto small = TimesOf(run.Flows(), kSmallFlow);
    Counters counters = CountersNow();
    std::printf("{\"scenario\": \"leaf-spine-128\", \"flows\": %zu, \"completed\": %lu, "
                "\"fct_small_mean_us\": %.3f, \"fct_small_p50_us\": %.3f, \"fct_small_p99_us\": %.3f, "
                "\"fct_all_mean_us\": %.3f, \"fct_all_p50_us\": %.3f, \"fct_all_p99_us\": %.3f, "
                "\"marks\": %lu, \"host_marks\": %lu, \"drops\": %lu, \"timeouts\": %lu, "
                "\"simulated_ms\": %.3f, \"cpu_s\": %.2f, \"peak_rss_mb\": %.1f",
                run.Flows().size(), run.Completed(), Mean(small), Percentile(small, 0.5),
                Percentile(small, 0.99), Mean(all), Percentile(all, 0.5), Percentile(all, 0.99),
                counters.marks, counters.hostMarks, counters.drops, counters.timeouts, Simulator::Now().GetPicoSeconds() / 1e9, cpu, PeakRssMb());
    if (options.countHops) {
        std::printf(", \"packet_hops\": %lu, \"events\": %lu", run.Hops(), Simulator::GetEventCount());
    }
    std::printf("}\n");
    Simulator::Destroy();
}

}  // namespace bench
