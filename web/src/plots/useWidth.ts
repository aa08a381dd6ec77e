/** How wide an element is, in whole pixels: a plot is drawn for its place, so that letters and marks keep their shape. */
import { useLayoutEffect, useRef, useState, type RefObject } from "react";

const UNTIL_KNOWN = 600;

export function useWidth(): [place: RefObject<HTMLDivElement | null>, width: number] {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(UNTIL_KNOWN);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const measure = () => setWidth(Math.floor(element.clientWidth) || UNTIL_KNOWN);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}
