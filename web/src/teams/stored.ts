/** What the server keeps as an object of any form, read with care: what is not as it should be is not there. Pure. */
export type Stored = Record<string, unknown>;

export const isStored = (value: unknown): value is Stored =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const number = (value: unknown): number | null => (typeof value === "number" ? value : null);
export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
export const objects = (value: unknown): Stored[] => (Array.isArray(value) ? value.filter(isStored) : []);
