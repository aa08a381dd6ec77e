/** The mark: people on the floor, one of whom raises a hand. */
export function Mark() {
  return (
    <svg className="brand-mark" width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect className="mark-ground" width="32" height="32" rx="9" />
      <circle className="mark-person" cx="8.5" cy="20.5" r="3" />
      <circle className="mark-person" cx="23.5" cy="20.5" r="3" />
      <circle className="mark-hand" cx="16" cy="12" r="3.6" />
    </svg>
  );
}
