/** A card leaves: it closes up in place, or is gone at once where motion is not wanted. */
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export function collapse(slot: HTMLElement | null, gone: () => void): void {
  // In a moment, also without motion: what the card leaves behind goes by what has become of the others meanwhile.
  if (slot === null || calm.matches || document.visibilityState === "hidden") return void setTimeout(gone);
  slot.style.overflow = "clip";
  const frames = [
    { height: `${slot.offsetHeight}px`, opacity: 1 },
    { height: `${slot.offsetHeight}px`, opacity: 0, offset: 0.4 },
    { height: "0px", paddingBlock: "0px", opacity: 0 },
  ];
  const leaving = slot.animate(frames, { duration: 240, easing: "cubic-bezier(0.3, 0, 0.2, 1)", fill: "forwards" });
  leaving.finished.then(gone, gone);
}
