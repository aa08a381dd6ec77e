/** A key's name beside what it does. Hidden where there is no keyboard, and from screen readers (`aria-keyshortcuts` tells them). */
export function Kbd({ children }: { children: string }) {
  return (
    <kbd className="kbd" aria-hidden="true">
      {children}
    </kbd>
  );
}
