"""Answers ICMP echo requests and TCP connection requests on a TUN device, well or badly as the address says.

10.99.B.N and fd99::B:N (hexadecimal) behave as B says, N milliseconds after the request was read:

  0  answer                        5  time exceeded, from a router
  1  answer every second request   6  answer from another address
  2  answer twice                  7  answer with a broken checksum
  3  answer with another payload   8  answer with a shorter payload
  4  host unreachable, from a router       9  a redirect and a source quench from a router, then answer
                                          10  answer with another payload, then answer
     anything else: silence

Run inside a network namespace of its own, as root. Prints "ready" once the device is up.
"""

import fcntl
import heapq
import os
import select
import struct
import subprocess
import time

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
SPIN_NS = 2_000_000

ROUTER = {4: bytes([10, 99, 255, 1]), 6: bytes.fromhex("fd99" + "00" * 10 + "00ff0001")}
OTHER = {4: bytes([10, 99, 255, 2]), 6: bytes.fromhex("fd99" + "00" * 10 + "00ff0002")}


def open_device():
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", b"wp0", IFF_TUN | IFF_NO_PI))
    for command in (
        "ip addr add 10.99.255.254/16 dev wp0",
        "ip -6 addr add fd99::ff:fe/64 dev wp0 nodad",
        "ip link set wp0 up",
        "ip link set lo up",
    ):
        subprocess.run(command.split(), check=True)
    return fd


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip_packet(family, protocol, source, destination, body):
    if family == 6:
        return struct.pack("!IHBB", 6 << 28, len(body), protocol, 61) + source + destination + body
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 61, protocol, 0) + source + destination
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def pseudo_header(family, protocol, source, destination, length):
    if family == 6:
        return source + destination + struct.pack("!IHBB", length, 0, 0, protocol)
    return source + destination + struct.pack("!BBH", 0, protocol, length)


def icmp(family, source, destination, kind, code, rest, error=0):
    protocol = 1 if family == 4 else 58
    message = struct.pack("!BBH", kind, code, 0) + rest
    pseudo = b"" if family == 4 else pseudo_header(6, protocol, source, destination, len(message))
    total = checksum(pseudo + message) ^ error
    return ip_packet(family, protocol, source, destination, message[:2] + struct.pack("!H", total) + message[4:])


def syn_ack(family, source, destination, segment):
    from_port, to_port, sequence = struct.unpack("!HHI", segment[:8])
    answer = struct.pack("!HHIIBBHHH", to_port, from_port, 1000, (sequence + 1) & 0xFFFFFFFF, 0x50, 0x12, 65535, 0, 0)
    total = checksum(pseudo_header(family, 6, source, destination, len(answer)) + answer)
    return ip_packet(family, 6, source, destination, answer[:16] + struct.pack("!H", total) + answer[18:])


def reset(family, source, destination, segment):
    """Ends a connection, lest the other end repeats its farewell for minutes."""
    from_port, to_port, _, sequence = struct.unpack("!HHII", segment[:12])
    answer = struct.pack("!HHIIBBHHH", to_port, from_port, sequence, 0, 0x50, 0x04, 0, 0, 0)
    total = checksum(pseudo_header(family, 6, source, destination, len(answer)) + answer)
    return ip_packet(family, 6, source, destination, answer[:16] + struct.pack("!H", total) + answer[18:])


seen = {}


def answers(packet):
    """The packets to send back, and after how many milliseconds."""
    family = packet[0] >> 4
    if family == 4:
        start, protocol, source, destination = (packet[0] & 15) * 4, packet[9], packet[12:16], packet[16:20]
        behaviour, delay = destination[2], destination[3]
    else:
        start, protocol, source, destination = 40, packet[6], packet[8:24], packet[24:40]
        behaviour, delay = struct.unpack("!HH", destination[12:16])
    body = packet[start:]
    if protocol == 6 and body[13] & 0x3F == 2 and behaviour == 0:
        return delay, [syn_ack(family, destination, source, body)]
    if protocol == 6 and body[13] & 0x01:
        return 0, [reset(family, destination, source, body)]
    request, reply = (8, 0) if family == 4 else (128, 129)
    if protocol not in (1, 58) or body[0] != request:
        return delay, []

    def echo(rest=body[4:], by=destination, error=0):
        return icmp(family, by, source, reply, 0, rest, error)

    quoted = b"\0\0\0\0" + packet[: start + 8 + 16]
    count = seen[destination] = seen.get(destination, -1) + 1
    if behaviour == 0:
        return delay, [echo()]
    if behaviour == 1:
        return delay, [echo()] if count % 2 == 0 else []
    if behaviour == 2:
        return delay, [echo(), echo()]
    if behaviour == 3:
        return delay, [echo(body[4:-1] + bytes([body[-1] ^ 0xFF]))]
    if behaviour == 4:
        return delay, [icmp(family, ROUTER[family], source, *((3, 1) if family == 4 else (1, 3)), quoted)]
    if behaviour == 5:
        return delay, [icmp(family, ROUTER[family], source, *((11, 0) if family == 4 else (3, 0)), quoted)]
    if behaviour == 6:
        return delay, [echo(by=OTHER[family])]
    if behaviour == 7:
        return delay, [echo(error=0x5555)]
    if behaviour == 8:
        return delay, [echo(body[4:-8])]
    if behaviour == 9:
        # IPv6 has no source quench, and takes redirects from its own gateway only.
        advice = [(5, 1), (4, 0)] if family == 4 else []
        return delay, [icmp(family, ROUTER[family], source, *kind, quoted) for kind in advice] + [echo()]
    if behaviour == 10:
        return delay, [echo(body[4:-1] + bytes([body[-1] ^ 0xFF])), echo()]
    return delay, []


def main():
    fd = open_device()
    print("ready", flush=True)
    queue = []
    count = 0
    while True:
        now = time.perf_counter_ns()
        while queue and queue[0][0] <= now:
            os.write(fd, heapq.heappop(queue)[2])
            now = time.perf_counter_ns()
        # The last two milliseconds are spun through: waking up late would be measured as delay.
        wait = 1.0 if not queue else max(0.0, (queue[0][0] - now - SPIN_NS) / 1e9)
        if not select.select([fd], [], [], wait)[0]:
            continue
        packet = os.read(fd, 65536)
        read_at = time.perf_counter_ns()
        delay, packets = answers(packet)
        for answer in packets:
            count += 1
            heapq.heappush(queue, (read_at + delay * 1_000_000, count, answer))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
