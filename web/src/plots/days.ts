/** Days as a plot names them. Pure but for the year that it is. */
import { formatDay } from "../ui/time.ts";

const A_DAY = 86_400_000;
/** By noon: a date is a day of the calendar, whatever the zone. */
const dated = (day: string) => new Date(`${day}T12:00:00`);

/** "3 Nov", with the year when it is another one. */
export function dayName(day: string): string {
  return formatDay(dated(day), new Date());
}

export function daysBetween(from: string, to: string): number {
  return Math.round((dated(to).getTime() - dated(from).getTime()) / A_DAY);
}

/** So many days after one. */
export function dayAfter(day: string, many: number): string {
  return new Date(Date.parse(day) + many * A_DAY).toISOString().slice(0, 10);
}
