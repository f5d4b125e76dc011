export function configJsonSchema(): object {
  return {};
}
