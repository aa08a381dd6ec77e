/** Times in the words of a person who waits. Pure. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "now", "40 s", "14 min", "2 h 11 min", "3 days": coarse enough to change rarely, fine enough to act on. */
export function formatSpan(milliseconds: number): string {
  const span = Math.max(0, milliseconds);
  if (span < 10 * SECOND) return "now";
  if (span < MINUTE) return `${Math.floor(span / (10 * SECOND)) * 10} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`;
  if (span < DAY) {
    const minutes = Math.floor((span % HOUR) / MINUTE);
    const hours = `${Math.floor(span / HOUR)} h`;
    return minutes === 0 ? hours : `${hours} ${minutes} min`;
  }
  const days = Math.floor(span / DAY);
  return days === 1 ? "1 day" : `${days} days`;
}

/** "just now", "14 min ago". */
export function formatAgo(milliseconds: number): string {
  const span = formatSpan(milliseconds);
  return span === "now" ? "just now" : `${span} ago`;
}

const clockTime = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "numeric", minute: "2-digit" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** "17:40" today, "Tue 09:00" on another day. */
export function formatMoment(at: Date, now: Date): string {
  return at.toDateString() === now.toDateString() ? clockTime.format(at) : dayAndTime.format(at);
}

export function formatWhole(at: Date): string {
  return whole.format(at);
}

/** The next 9:00 on the operator's clock that is on another day. */
export function tomorrowMorning(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);
}

const dayOnly = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** "3 Nov", with the year when it is another one. */
export function formatDay(at: Date, now: Date): string {
  return (at.getFullYear() === now.getFullYear() ? dayOnly : dayOfYear).format(at);
}

/** Seconds as people say them: "8 s", "4 min", "2 h 5 min", "3 days". */
export function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${Math.round(seconds)} s` : formatSpan(seconds * SECOND);
}
