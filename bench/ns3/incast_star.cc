// Endless DCTCP flows of 16 hosts to one, through one switch: who holds the queue at K?

#include "scenarios.h"

#include <algorithm>
#include <cstdio>

using namespace ns3;

namespace bench {

namespace {

/// How long the receiver's port held how many packets: exact, from every change. What waits is
/// the queue disc's and the device's FIFO; the packet in transmission is not counted.
class QueueMeter {
  public:
    QueueMeter(Ptr<QueueDisc> disc, Ptr<NetDevice> device, Time from)
        : m_last(from)
    {
        disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&QueueMeter::OnDisc, this));
        disc->TraceConnectWithoutContext("Mark", MakeCallback(&QueueMeter::OnMark, this));
        DynamicCast<PointToPointNetDevice>(device)->GetQueue()->TraceConnectWithoutContext(
            "PacketsInQueue", MakeCallback(&QueueMeter::OnFifo, this));
    }

    void Flush()
    {
        Time now = Simulator::Now();
        if (now <= m_last) {
            return;
        }
        uint32_t length = m_inDisc + m_inFifo;
        m_held.resize(std::max<size_t>(m_held.size(), length + 1));
        m_held[length] += (now - m_last).GetPicoSeconds();
        m_last = now;
    }

    double Mean() const
    {
        double sum = 0;
        for (size_t length = 0; length < m_held.size(); ++length) {
            sum += static_cast<double>(length) * m_held[length];
        }
        return sum / Total();
    }

    size_t Quantile(double share) const
    {
        double left = share * Total();
        size_t length = 0;
        while (length + 1 < m_held.size() && (left -= m_held[length]) > 0) {
            ++length;
        }
        return length;
    }

    size_t Max() const { return m_held.size() - 1; }

    /// The shortest queue disc that a marked packet found, over the whole run.
    uint32_t ShortestMarking() const { return m_shortestMarking; }

  private:
    double Total() const
    {
        double total = 0;
        for (int64_t held : m_held) {
            total += held;
        }
        return total;
    }

    void OnDisc(uint32_t, uint32_t now)
    {
        Flush();
        m_inDisc = now;
    }

    void OnFifo(uint32_t, uint32_t now)
    {
        Flush();
        m_inFifo = now;
    }

    void OnMark(Ptr<const QueueDiscItem>, const char*)
    {
        m_shortestMarking = std::min(m_shortestMarking, m_inDisc);
    }

    Time m_last;
    uint32_t m_shortestMarking = UINT32_MAX;
    uint32_t m_inDisc = 0;
    uint32_t m_inFifo = 0;
    std::vector<int64_t> m_held{0};  // picoseconds, by length
};

struct Receiver {
    Time from;
    uint64_t bytes = 0;  // since then

    void Accept(Ptr<Socket> socket, const Address&)
    {
        socket->SetRecvCallback(MakeCallback(&Receiver::Receive, this));
    }

    void Receive(Ptr<Socket> socket)
    {
        while (auto packet = socket->Recv()) {
            bytes += Simulator::Now() >= from ? packet->GetSize() : 0;
        }
    }
};

}  // namespace

void RunIncastStar(const Settings& settings, const IncastOptions& options)
{
    auto nodes = MakeNodes(options.senders + 2);
    auto hub = nodes.Get(options.senders + 1);
    auto receiverNode = nodes.Get(options.senders);
    Time duration = MicroSeconds(options.durationMs * 1000);
    Time half = duration / 2;

    Ptr<QueueDisc> bottleneck;
    for (uint32_t host = 0; host <= options.senders; ++host) {
        bottleneck = AttachHost(settings, host, nodes.Get(host), hub);
    }
    QueueMeter meter(bottleneck, hub->GetDevice(hub->GetNDevices() - 1), half);

    Receiver receiver{half};
    auto listener = Socket::CreateSocket(receiverNode, TcpSocketFactory::GetTypeId());
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), kServerPort));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                MakeCallback(&Receiver::Accept, &receiver));

    // Endless: more than the bottleneck can carry in the whole run, for each sender.
    uint32_t bytes = DataRate(settings.rate).GetBitRate() / 8 * duration.GetSeconds();
    std::vector<Ptr<Socket>> senders;
    for (uint32_t host = 0; host < options.senders; ++host) {
        auto socket = Socket::CreateSocket(nodes.Get(host), TcpSocketFactory::GetTypeId());
        WatchTimeouts(socket);
        socket->Connect(InetSocketAddress(AddressOf(options.senders), kServerPort));
        socket->Send(Create<Packet>(bytes));
        senders.push_back(socket);
    }

    double before = UserSeconds();
    Simulator::Stop(duration);
    Simulator::Run();
    double cpu = UserSeconds() - before;
    meter.Flush();
    Counters counters = CountersNow();
    std::printf("{\"scenario\": \"incast-star\", \"senders\": %u, \"duration_ms\": %g, "
                "\"threshold_pkts\": %u, \"goodput_gbps\": %.4f, \"queue_mean_pkts\": %.2f, "
                "\"queue_p99_pkts\": %zu, \"queue_max_pkts\": %zu, \"marked_from_pkts\": %u, "
                "\"marks\": %lu, \"drops\": %lu, \"timeouts\": %lu, \"events\": %lu, "
                "\"cpu_s\": %.2f, \"peak_rss_mb\": %.1f}\n",
                options.senders, options.durationMs, settings.threshold,
                receiver.bytes * 8e-9 / (duration - half).GetSeconds(), meter.Mean(),
                meter.Quantile(0.99), meter.Max(), meter.ShortestMarking(), counters.marks, counters.drops,
                counters.timeouts, Simulator::GetEventCount(), cpu, PeakRssMb());
    Simulator::Destroy();
}

}  // namespace bench
