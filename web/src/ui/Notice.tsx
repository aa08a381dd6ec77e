/** Loading, failing and empty, told the same way everywhere: what it is and what to do. */
import type { ReactNode } from "react";
import { explain } from "../api/problem";

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

export function ReadError({ what, error, onRetry }: { what: string; error: unknown; onRetry: () => void }) {
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
