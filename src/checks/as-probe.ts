/** What blackbox_exporter calls what a probe found beside its success, its duration and its name resolution, and what that is. */
export const probeFindings = {
  probe_failed_due_to_regex: '1 if an answer came that did not meet the expectation.',
  probe_http_duration_seconds: 'How long each phase of the request took, over all redirects.',
  probe_http_status_code: 'Status code of the last answer; 0 if there was none.',
  probe_http_redirects: 'How many redirects were followed.',
  probe_http_ssl: '1 if the last request was encrypted.',
  probe_http_version: 'HTTP version of the last answer; 0 if there was none.',
  probe_http_content_length: 'Bytes of the body that were read.',
  probe_http_uncompressed_body_length: 'Bytes of the body that were read.',
  probe_tls_version_info: 'Always 1: the version of TLS.',
  probe_icmp_duration_seconds: 'How long each phase of the ping took.',
  probe_icmp_reply_hop_limit: 'TTL or hop limit that the reply arrived with.',
  probe_grpc_duration_seconds: 'How long each phase of the question took.',
  probe_grpc_ssl: '1 if the connection was encrypted.',
  probe_grpc_status_code: 'Status of gRPC that the server answered with.',
  probe_grpc_healthcheck_response: '1 for the health that the server reported, 0 for the others.',
  probe_dns_duration_seconds: 'How long each phase of the question took.',
  probe_dns_answer_rrs: 'Records that answered.',
  probe_dns_query_succeeded: '1 if a name server answered.',
} as const;

/** One of them, of one outcome. */
export interface ProbeFinding {
  readonly name: keyof typeof probeFindings;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A finding for each phase. */
export function phaseFindings(
  name: ProbeFinding['name'],
  phases: Readonly<Record<string, number | undefined>>,
): readonly ProbeFinding[] {
  return Object.entries(phases).map(([phase, seconds]) => ({ name, labels: { phase }, value: seconds ?? 0 }));
}

/** The version of TLS, which Node calls `TLSv1.3`, in Go's words. */
export function tlsFindings(protocol: string | null): readonly ProbeFinding[] {
  if (protocol === null || protocol === '') return [];
  return [{ name: 'probe_tls_version_info', labels: { version: protocol.replace('TLSv', 'TLS ') }, value: 1 }];
}
