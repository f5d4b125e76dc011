/** How long the longest test files take in a whole run of continuous integration, in seconds: of these a run would wait for the last one. */
export const testLengths: Readonly<Record<string, number>> = {
  'integration/hubs/embedded': 215,
  'integration/new-check-type': 115,
  'integration/starved-node': 115,
  'e2e/compose-hubs': 100,
  'integration/pages': 100,
  'browser/monitor': 95,
  'integration/starved-hub': 95,
  'integration/checks/paths': 85,
  'integration/demo': 85,
  'integration/doubts': 85,
  'integration/hubs/notices': 85,
  'integration/hubs/embedded-changes': 80,
  'integration/evidence-routers': 75,
  'integration/hubs/hand-over': 70,
  'integration/waiting-rounds-troubled': 70,
  'integration/docker-targets': 65,
  'integration/evidence-trouble': 65,
  'browser/firefox': 60,
  'integration/bad-days': 60,
  'integration/server-targets': 60,
  'e2e/subscribe': 55,
  'browser/hard': 50,
  'e2e/bundle-databases': 50,
  'e2e/package': 45,
  'integration/set-clock': 45,
  'integration/smallest-machine': 45,
  'integration/evidence-outage': 40,
  'integration/full-disk': 40,
  'integration/hubs/alone': 40,
  'integration/kubernetes-targets': 40,
  'integration/loaded-modules': 40,
  'integration/service/openapi': 40,
  'integration/transport/slow-hub': 40,
  'browser/long-list': 35,
  'e2e/reload': 35,
  'integration/checks/unreachable': 35,
  'integration/cli/beat': 35,
  'integration/connections': 35,
  'integration/hubs/take-over': 35,
  'integration/hubs/trouble': 35,
  'integration/returning-uplink': 35,
  'integration/srv-targets': 35,
  'integration/transport/thread': 35,
  'browser/live': 30,
  'e2e/compose': 30,
  'integration/alertmanager': 30,
  'integration/checks/evidence': 30,
  'integration/hanging-disk': 30,
  'integration/hub-away': 30,
  'integration/hubs/checks': 30,
  'integration/hubs/members': 30,
  'integration/nats-trouble': 30,
  'integration/nodes': 30,
  'integration/overloaded-thread': 30,
  'integration/prometheus': 30,
  'browser/lost': 25,
  'e2e/monitor': 25,
  'e2e/nodes': 25,
  'integration/busy-hub': 25,
  'integration/checks/ping-options': 25,
  'integration/earlier-check': 25,
  'integration/evidence': 25,
  'integration/grafana': 25,
  'integration/hubs/keys': 25,
  'integration/nats-reload': 25,
  'integration/plugins': 25,
  'browser/check': 20,
  'browser/status-languages': 20,
  'e2e/bundle': 20,
  'e2e/jobs': 20,
  'e2e/own-language': 20,
  'e2e/status': 20,
  'integration/checks/ping': 20,
  'integration/checks/returning-links': 20,
  'integration/cut-nodes': 20,
  'integration/hubs/follower': 20,
  'integration/import': 20,
  'integration/new-rule-kind': 20,
  'integration/store/unstored': 20,
};

const othersSeconds = 6;

/**
 * The files of a project, the longest first; those that are not in the list are about as long as most. Those of its folders take
 * turns in proportion to their lengths, so that each folder is under way all the time.
 */
export function longestFirst<File>(files: readonly File[], pathOf: (file: File) => string): readonly File[] {
  const lengths = files.map((file) => {
    const [, name = '', folder = ''] = /\/test\/((\w+)\/.*)\.test\.ts$/.exec(pathOf(file)) ?? [];
    return { file, folder, seconds: testLengths[name] ?? othersSeconds };
  });
  const placed = [...Map.groupBy(lengths, ({ folder }) => folder).values()].flatMap((ofFolder) => {
    const whole = ofFolder.reduce((sum, { seconds }) => sum + seconds, 0);
    let before = 0;
    return ofFolder
      .toSorted((a, b) => b.seconds - a.seconds)
      .map(({ file, seconds }) => {
        const place = before / whole;
        before += seconds;
        return { file, place };
      });
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ file }) => file);
}
