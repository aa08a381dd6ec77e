/**
 * A screen whose code is read when somebody goes there, or before that once the page has nothing else to do. Until it is
 * there its heading is, so that the focus has somewhere to be; then the screen's own heading has it.
 */
import { useEffect, useState, type ReactNode } from "react";
import { flushSync } from "react-dom";
import { Skeletons } from "../ui/Notice";

type Screen<Props> = (props: Props) => ReactNode;

const waiting: (() => Promise<unknown>)[] = [];

export function lazyScreen<Props extends object>(
  title: string,
  read: () => Promise<Screen<Props>>,
): (props: Props) => ReactNode {
  let Found: Screen<Props> | null = null;
  const load = async () => (Found ??= await read());
  waiting.push(load);

  return function LazyScreen(props: Props) {
    const [, setThere] = useState(false);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (Found !== null) return;
      let gone = false;
      const arrive = () => {
        if (gone) return;
        const hadFocus = document.activeElement?.matches("main h1") === true;
        flushSync(() => setThere(true));
        if (hadFocus) document.querySelector<HTMLElement>("main h1")?.focus();
      };
      load().then(arrive, () => !gone && setFailed(true));
      return () => {
        gone = true;
      };
    }, []);
    if (Found !== null) return <Found {...props} />;
    return (
      <>
        <header className="screen-head">
          <h1 tabIndex={-1}>{title}</h1>
          {failed && <p role="alert">This screen could not be read. Load the page anew.</p>}
        </header>
        {!failed && <Skeletons count={2} label="Reading the screen" />}
      </>
    );
  };
}

/** Something else whose code is read once the page has nothing else to do. */
export function readAtRest(read: () => Promise<unknown>): void {
  waiting.push(read);
}

/** Reads all of them, so that going to one waits for nothing. */
export function readLazyScreens(): void {
  for (const load of waiting) void load().catch(() => undefined);
}
