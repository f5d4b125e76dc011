/** Makes something when it is used, and again if it has been collected as garbage since: for what is seldom used, and takes room. */
export function remade<Value extends object>(make: () => Value): () => Value {
  let last: WeakRef<Value> | null = null;
  return () => {
    const known = last?.deref();
    if (known !== undefined) return known;
    const value = make();
    last = new WeakRef(value);
    return value;
  };
}
