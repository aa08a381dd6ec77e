/** Loading, failing and empty, told the same way everywhere: what it is and what to do. */
import type { ReactNode } from "react";
import { explain, Refused } from "../api/problem";
import { linkTo, ROUTES, type RouteName } from "../app/routes";

export function EmptyState({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="empty">
      {/* The mark's people, and nobody raises a hand. */}
      <svg width="56" height="12" viewBox="0 0 56 12" aria-hidden="true">
        <circle cx="8" cy="6" r="5" />
        <circle cx="28" cy="6" r="5" />
        <circle cx="48" cy="6" r="5" />
      </svg>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface ReadErrorProps {
  /** "The sprint". */
  what: string;
  error: unknown;
  onRetry: () => void;
  /** Of one thing with an address: where those that there are stand. */
  home?: RouteName;
}

export function ReadError({ what, error, onRetry, home }: ReadErrorProps) {
  if (home !== undefined && isMissing(error))
    return (
      <EmptyState title={`No ${what.replace(/^The /, "")} has this id`}>
        <p>
          <a {...linkTo(home)}>To the {ROUTES[home].title.toLowerCase()}</a>
        </p>
      </EmptyState>
    );
  return (
    <section className="empty" role="alert">
      <h2>{what} could not be read</h2>
      <p>{explain(error)}</p>
      <p>
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      </p>
    </section>
  );
}

/** Asking again would not help. */
function isMissing(error: unknown): boolean {
  return error instanceof Refused && (error.status === 404 || error.code === "invalid_id");
}

/** Holds the place of cards that are on their way, so that nothing jumps when they come. */
export function Skeletons({ count, label }: { count: number; label: string }) {
  return (
    <div className="skeletons" role="status" aria-label={label}>
      {Array.from({ length: count }, (_, index) => (
        <div key={index} className="skeleton" />
      ))}
    </div>
  );
}
