#include "fabric.h"

#include <sys/resource.h>

using namespace ns3;

namespace bench {

namespace {

constexpr uint32_t kFirstAddress = 0x0a000001;  // 10.0.0.1

std::vector<Ptr<QueueDisc>> g_discs;
std::vector<Ptr<QueueDisc>> g_hostDiscs;
uint64_t g_timeouts = 0;

Ptr<Ipv4Route> RouteBy(Ptr<NetDevice> device, Ipv4Address source)
{
    // One route for all destinations: over a point-to-point device no gateway's address is asked.
    auto route = Create<Ipv4Route>();
    route->SetSource(source);
    route->SetGateway(Ipv4Address::GetZero());
    route->SetOutputDevice(device);
    return route;
}

uint32_t AddInterface(Ptr<NetDevice> device)
{
    auto ipv4 = device->GetNode()->GetObject<Ipv4>();
    uint32_t interface = ipv4->AddInterface(device);
    ipv4->SetUp(interface);
    return interface;
}

void OnCongestionState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
    g_timeouts += now == TcpSocketState::CA_LOSS;
}

uint64_t KeyOf(uint32_t from, uint32_t to, uint16_t fromPort, uint16_t toPort)
{
    return uint64_t{from} << 48 | uint64_t{to} << 32 | uint64_t{fromPort} << 16 | toPort;
}

}  // namespace

Ipv4Address AddressOf(uint32_t host) { return Ipv4Address(kFirstAddress + host); }

uint32_t HostOf(Ipv4Address address) { return address.Get() - kFirstAddress; }

void Paths::Set(uint32_t from, uint32_t to, uint16_t fromPort, uint16_t toPort, uint8_t uplink)
{
    m_uplinks[KeyOf(from, to, fromPort, toPort)] = uplink;
}

uint8_t Paths::Get(uint32_t from, uint32_t to, uint16_t fromPort, uint16_t toPort) const
{
    return m_uplinks.at(KeyOf(from, to, fromPort, toPort));
}

NS_OBJECT_ENSURE_REGISTERED(FabricRouting);

TypeId FabricRouting::GetTypeId()
{
    static TypeId id = TypeId("bench::FabricRouting")
                           .SetParent<Ipv4RoutingProtocol>()
                           .AddConstructor<FabricRouting>();
    return id;
}

void FabricRouting::SetDirect(uint32_t host, Ptr<NetDevice> device)
{
    if (m_direct.size() <= host) {
        m_direct.resize(host + 1);
    }
    m_direct[host] = RouteBy(device, m_own);
}

void FabricRouting::AddUplink(Ptr<NetDevice> device)
{
    m_uplinks.push_back(RouteBy(device, m_own));
}

void FabricRouting::SetHost(uint32_t host, Ptr<NetDevice> device)
{
    m_own = AddressOf(host);
    AddUplink(device);
}

Ptr<Ipv4Route> FabricRouting::RouteOutput(Ptr<Packet>, const Ipv4Header&, Ptr<NetDevice>,
                                          Socket::SocketErrno& error)
{
    // Only hosts originate packets, and they have one link.
    error = Socket::ERROR_NOTERROR;
    return m_uplinks.front();
}

bool FabricRouting::RouteInput(Ptr<const Packet> packet, const Ipv4Header& header,
                               Ptr<const NetDevice> device, UnicastForwardCallback forward,
                               MulticastForwardCallback, LocalDeliverCallback deliver,
                               ErrorCallback)
{
    if (header.GetDestination() == m_own) {
        deliver(packet, header, m_ipv4->GetInterfaceForDevice(device));
        return true;
    }
    uint32_t to = HostOf(header.GetDestination());
    if (to < m_direct.size() && m_direct[to]) {
        forward(m_direct[to], packet, header);
        return true;
    }
    // TCP's ports are the first four bytes behind the IP header; parsing all of it is dear.
    uint8_t ports[4];
    packet->CopyData(ports, sizeof ports);
    uint8_t uplink = m_paths->Get(HostOf(header.GetSource()), to, ports[0] << 8 | ports[1],
                                  ports[2] << 8 | ports[3]);
    forward(m_uplinks[uplink], packet, header);
    return true;
}

void SetDefaults(const Settings& settings)
{
    // A full packet lasts 1201.6 ns at 10 Gbps: in the stock resolution of 1 ns it would not.
    Time::SetResolution(Time::PS);
    GlobalValue::Bind("SchedulerType", StringValue(settings.scheduler));

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpDctcp::GetTypeId()));
    Config::SetDefault("ns3::TcpDctcp::DctcpShiftG", DoubleValue(1.0 / 16));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegmentSize));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
    // No flow waits for a buffer; a window of up to 65535 * 2^14 bytes can be announced.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1'000'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1'000'000'000));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MilliSeconds(10)));
    // Never give up: a flow that is aborted has no completion time.
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1'000'000));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1'000'000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    // Closed connections stay in the hosts' lists, searched for every packet, for twice this
    // (stock: 120 s, as long as any run).
    Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(0.001));
}

NodeContainer MakeNodes(uint32_t count)
{
    NodeContainer nodes(count);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    for (auto node = nodes.Begin(); node != nodes.End(); ++node) {
        (*node)->GetObject<Ipv4>()->SetRoutingProtocol(CreateObject<FabricRouting>());
    }
    return nodes;
}

Ptr<FabricRouting> RoutingOf(Ptr<Node> node)
{
    return DynamicCast<FabricRouting>(node->GetObject<Ipv4>()->GetRoutingProtocol());
}

NetDeviceContainer Link(const Settings& settings, Ptr<Node> a, Ptr<Node> b)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(settings.rate));
    link.SetChannelAttribute("Delay", StringValue(settings.delay));
    return link.Install(a, b);
}

Ptr<QueueDisc> AttachHost(const Settings& settings, uint32_t host, Ptr<Node> node,
                          Ptr<Node> onSwitch)
{
    auto ends = Link(settings, node, onSwitch);
    auto nic = DynamicCast<PointToPointNetDevice>(ends.Get(0));
    if (settings.hostsMark) {
        g_hostDiscs.push_back(MakePort(settings, nic));
    } else {
        // The device's own FIFO, no queue disc, no drops.
        nic->GetQueue()->SetMaxSize(QueueSize("100000000p"));
        AddInterface(nic);
    }
    uint32_t interface = node->GetObject<Ipv4>()->GetInterfaceForDevice(nic);
    auto address = Ipv4InterfaceAddress(AddressOf(host), Ipv4Mask::GetOnes());
    node->GetObject<Ipv4>()->AddAddress(interface, address);
    RoutingOf(node)->SetHost(host, nic);
    auto queue = MakePort(settings, ends.Get(1));
    RoutingOf(onSwitch)->SetDirect(host, ends.Get(1));
    return queue;
}

Ptr<QueueDisc> MakePort(const Settings& settings, Ptr<NetDevice> device)
{
    // The shortest that works: the device holds one packet besides the one it sends, the queue
    // disc the others.
    DynamicCast<PointToPointNetDevice>(device)->GetQueue()->SetMaxSize(QueueSize("1p"));
    AddInterface(device);
    // With both thresholds at K, no averaging and no gentle slope, RED marks exactly the packets
    // that find K or more queued.
    QueueSize limit(QueueSizeUnit::PACKETS, settings.queueLimit);
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc",
                             "MinTh", DoubleValue(settings.threshold),
                             "MaxTh", DoubleValue(settings.threshold),
                             "QW", DoubleValue(1.0),
                             "Gentle", BooleanValue(false),
                             "UseEcn", BooleanValue(true),
                             "UseHardDrop", BooleanValue(false),
                             "MaxSize", QueueSizeValue(limit));
    g_discs.push_back(control.Install(device).Get(0));
    return g_discs.back();
}

Counters CountersNow()
{
    Counters counters;
    for (const auto& disc : g_discs) {
        const auto& stats = disc->GetStats();
        counters.marks += stats.nTotalMarkedPackets;
        counters.drops += stats.nTotalDroppedPackets;
    }
    for (const auto& disc : g_hostDiscs) {
        counters.hostMarks += disc->GetStats().nTotalMarkedPackets;
    }
    counters.timeouts = g_timeouts;
    return counters;
}

void WatchTimeouts(Ptr<Socket> socket)
{
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&OnCongestionState));
}

double UserSeconds()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6;
}

double PeakRssMb()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024.0;
}

}  // namespace bench
