/**
 * Which cards stand where on screen. The server's order may change at any moment; what the operator is looking at may
 * not. Pure; useArrangement.ts measures the screen and keeps the result.
 */

/**
 * The ids to show next, given those `shown` now and those `wanted` in the server's order.
 *
 * The first `fixed` cards are in view or above it and keep their places, also when they were settled meanwhile. Behind
 * them everything follows the server's order. A wanted card that belongs among the fixed ones is left out: it waits until
 * the operator asks for it. `keep` names settled cards that must not go even when nothing is fixed.
 */
export function arrange(
  shown: readonly string[],
  wanted: readonly string[],
  fixed: number,
  keep: (id: string) => boolean,
): string[] {
  const rank = new Map(wanted.map((id, index) => [id, index]));
  const front = shown.filter((id, index) => index < fixed || (!rank.has(id) && keep(id)));
  const lastRank = Math.max(-1, ...front.map((id) => rank.get(id) ?? -1));
  return [...front, ...wanted.slice(lastRank + 1)];
}
