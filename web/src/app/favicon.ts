/** The tab's icon with a number in it: hot when an agent is stopped, plain when questions can wait. Pure. */
export function iconWithCount(count: number, blocking: boolean): string {
  const text = count > 99 ? "99" : String(count);
  const ground = blocking ? "#d9481c" : "#23211e";
  const size = text.length > 1 ? 18 : 21;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="${ground}"/>` +
    `<text x="16" y="${16 + size * 0.36}" font-family="system-ui,sans-serif" font-weight="700" font-size="${size}" text-anchor="middle" fill="#fff">${text}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
