/** How long the longest test files take in a whole run of continuous integration, in seconds: of these a run would wait for the last one. */
export const testLengths: Readonly<Record<string, number>> = {
  'integration/hubs/embedded': 200,
  'integration/hub-away': 105,
  'browser/monitor': 90,
  'integration/hubs/embedded-changes': 90,
  'integration/demo': 80,
  'e2e/compose-hubs': 80,
  'integration/doubts': 80,
  'integration/pages': 70,
  'integration/checks/paths': 70,
  'integration/server-targets': 60,
  'integration/evidence-trouble': 70,
  'integration/evidence-routers': 65,
  'integration/plugins': 40,
  'integration/docker-targets': 60,
  'e2e/bundle': 60,
  'browser/hard': 60,
  'integration/hubs/notices': 50,
  'e2e/subscribe': 50,
  'browser/lost': 50,
  'integration/bad-days': 45,
  'browser/long-list': 45,
  'integration/kubernetes-targets': 45,
  'integration/hubs/take-over': 45,
  'integration/evidence-outage': 40,
  'integration/full-disk': 40,
  'integration/hubs/alone': 40,
  'integration/hubs/hand-over': 40,
  'integration/hubs/trouble': 40,
  'integration/srv-targets': 35,
  'integration/returning-uplink': 35,
  'integration/hanging-disk': 45,
  'integration/set-clock': 35,
  'browser/live': 35,
  'e2e/package': 35,
  'integration/checks/unreachable': 35,
  'browser/check': 35,
  'integration/new-check-type': 35,
  'integration/hubs/members': 30,
  'integration/checks/evidence': 30,
  'integration/hubs/checks': 30,
  'integration/prometheus': 30,
  'e2e/bundle-databases': 30,
  'integration/alertmanager': 30,
  'integration/mongodb-targets': 30,
  'integration/evidence': 30,
  'integration/hubs/keys': 25,
  'e2e/nodes': 25,
  'e2e/compose': 25,
  'integration/checks/ping-options': 25,
  'integration/nats-trouble': 25,
  'e2e/reload': 25,
  'integration/nats-reload': 25,
  'browser/firefox': 25,
  'integration/transport/transport': 25,
  'integration/transport/nats-watching': 25,
  'integration/nodes': 25,
  'e2e/monitor': 20,
  'integration/hubs/follower': 20,
  'browser/status-languages': 20,
  'integration/grafana': 20,
  'e2e/export': 20,
  'e2e/status': 20,
  'integration/checks/ping': 20,
  'browser/edit-targets': 20,
  'integration/store/unstored': 20,
  'e2e/exclude': 20,
};

const othersSeconds = 6;

/** How long a test file takes, in seconds, by its path; about as long as most if it is not in the list. */
export function secondsOf(path: string): number {
  const name = /\/test\/(.*)\.test\.ts$/.exec(path)?.[1] ?? '';
  return testLengths[name] ?? othersSeconds;
}

/** A file, and where its beginning is to be in the run of its project, from 0 to 1. */
export interface PlacedFile<File> {
  readonly file: File;
  readonly place: number;
}

/** The files of a project, the longest first, each at the share of the work that comes before it. */
export function placesOf<File>(files: readonly File[], pathOf: (file: File) => string): readonly PlacedFile<File>[] {
  const lengths = files
    .map((file) => ({ file, seconds: secondsOf(pathOf(file)) }))
    .toSorted((a, b) => b.seconds - a.seconds);
  const whole = lengths.reduce((sum, { seconds }) => sum + seconds, 0);
  let before = 0;
  return lengths.map(({ file, seconds }) => {
    const place = before / whole;
    before += seconds;
    return { file, place };
  });
}
