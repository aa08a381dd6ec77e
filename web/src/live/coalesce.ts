/** Gathers what arrives in a burst and hands it on in one go. Pure but for the timer that is passed in. */

/** Calls `flush` with all items added since the last call: `window` ms after the first, never two at a time. */
export function coalesce<T>(
  window: number,
  flush: (items: Set<T>) => Promise<void>,
  wait = setTimeout,
): (item: T) => void {
  let waiting = new Set<T>();
  let busy = false;

  async function run(): Promise<void> {
    const items = waiting;
    waiting = new Set();
    try {
      await flush(items);
    } finally {
      busy = false;
      if (waiting.size > 0) schedule();
    }
  }

  function schedule(): void {
    busy = true;
    wait(() => void run(), window);
  }

  return (item) => {
    waiting.add(item);
    if (!busy) schedule();
  };
}
