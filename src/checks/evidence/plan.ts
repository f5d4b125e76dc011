import type { Spec as DnsSpec } from '../dns/spec.ts';
import type { RecordType } from '../dns/record-types.ts';
import type { Spec as DomainSpec } from '../domain/spec.ts';
import type { Spec as GrpcSpec } from '../grpc/spec.ts';
import type { Spec as HttpSpec } from '../http/spec.ts';
import type { Step } from '../stream/step.ts';
import type { Tls } from '../stream/tls.ts';
import type { UdpPreset } from '../udp/payload.ts';

/** How TLS is reached, and what is asked for. */
export interface TlsPlan {
  readonly port: number;
  /** The name to ask for (SNI) and to find in the certificate. */
  readonly serverName: string;
  readonly ca?: string | undefined;
  readonly client?: { readonly cert: string; readonly key: string } | undefined;
  readonly alpn: readonly string[];
  /** What is said before the handshake, without the step that starts it. */
  readonly before: readonly Step[];
}

/** What evidence about a target consists of: parts that are absent do not apply to it. */
export interface EvidencePlan {
  /** Where its probes connect to: a host name or an address. */
  readonly name: string;
  readonly family?: 4 | 6 | undefined;
  /** For how long the check itself waits. */
  readonly timeoutMs: number;
  /** By which protocol and port the path is traced, and whether the port is a server's that gets only a few datagrams; null for none. */
  readonly path: {
    readonly protocol: 'udp' | 'icmp' | 'tcp';
    readonly port: number | null;
    readonly sparesPort?: boolean;
  } | null;
  /** What name servers are asked for besides the addresses of `name`, which is the default. */
  readonly question?: { readonly name: string; readonly type: RecordType };
  /** The check that names a resolver to ask, and how; absent for the node's own. */
  readonly resolver?: DnsSpec;
  /** The registration to look up even if the name exists. */
  readonly registration?: DomainSpec;
  /** Or why it cannot be gathered although the target has it. */
  readonly tls?: TlsPlan | { readonly unavailable: string };
  /** A request, and whether it is to become a WebSocket. */
  readonly request?: { readonly spec: HttpSpec; readonly upgrade?: true };
  /** A call of gRPC's health checking protocol. */
  readonly call?: GrpcSpec;
  /** A dialogue over a connection, the start of TLS included. */
  readonly dialogue?: { readonly port: number; readonly steps: readonly Step[]; readonly tls: Tls };
  /** What is sent in one datagram: the request of a preset, or these bytes. */
  readonly datagram?: { readonly port: number; readonly payload: UdpPreset | Uint8Array };
  /** Texts of the spec that must never leave the node. */
  readonly secrets: readonly string[];
}
