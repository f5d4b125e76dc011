/** What decides which deliveries belong together. */
export interface LimitedDelivery {
  readonly channel: string;
  readonly recipient: string;
  readonly incidentId: string;
  /** The message that was chosen for it and may have arrived, or null. */
  readonly message: string | null;
}

interface DeliveryGroup<Row> {
  readonly lane: string;
  readonly rows: Row[];
  readonly keys: string[];
}

/**
 * At most `limit` of the rows, in their order; the first of each recipient before the second of any. What a recipient is to get about
 * one incident is never cut apart, nor is a message that may have arrived: one of these may exceed the limit by itself.
 */
export function withinLimit<Row>(
  rows: readonly Row[],
  limit: number,
  deliveryOf: (row: Row) => LimitedDelivery,
): readonly Row[] {
  if (rows.length <= limit) return rows;
  const turns = new Map<string, number>();
  const inTurn = groupsOf(rows, deliveryOf).map((group) => {
    const turn = turns.get(group.lane) ?? 0;
    turns.set(group.lane, turn + 1);
    return { turn, group };
  });
  const taken = new Set<Row>();
  for (const { group } of inTurn.toSorted((a, b) => a.turn - b.turn)) {
    if (taken.size > 0 && taken.size + group.rows.length > limit) break;
    for (const row of group.rows) taken.add(row);
  }
  return rows.filter((row) => taken.has(row));
}

// In the order of their first rows.
function groupsOf<Row>(rows: readonly Row[], deliveryOf: (row: Row) => LimitedDelivery): readonly DeliveryGroup<Row>[] {
  const groups = new Set<DeliveryGroup<Row>>();
  const byKey = new Map<string, DeliveryGroup<Row>>();
  for (const row of rows) {
    const { channel, recipient, incidentId, message } = deliveryOf(row);
    const lane = JSON.stringify([channel, recipient]);
    const keys = [`${lane} incident ${incidentId}`, ...(message === null ? [] : [`${lane} message ${message}`])];
    const [group = { lane, rows: [], keys: [] }, other = group] = new Set(keys.flatMap((key) => byKey.get(key) ?? []));
    groups.add(group);
    group.rows.push(row);
    const added = other === group ? keys : [...keys, ...other.keys];
    if (other !== group) {
      group.rows.push(...other.rows);
      groups.delete(other);
    }
    for (const key of added) byKey.set(key, group);
    group.keys.push(...added);
  }
  return [...groups];
}
