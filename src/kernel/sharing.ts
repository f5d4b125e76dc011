/**
 * Gives for each value the first one that is the same as JSON, so that many things which have the same hold one. It keeps them for as
 * long as it is kept itself.
 */
export function sharing<Value>(): (value: Value) => Value {
  const known = new Map<string, Value>();
  return (value) => {
    const key = JSON.stringify(value);
    const first = known.get(key);
    if (first === undefined) known.set(key, value);
    return first ?? value;
  };
}
