/** What an address asks a screen to begin: it is begun once, and the address says it no more. */
import { useEffect, useEffectEvent } from "react";
import { useParameter } from "./routes";

export function useAskedFor(what: string, begin: () => void): void {
  const [asked, setAsked] = useParameter("begin");
  const onAsked = useEffectEvent(() => {
    setAsked("");
    begin();
  });
  useEffect(() => {
    if (asked === what) onAsked();
  }, [asked, what]);
}
