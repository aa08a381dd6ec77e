/** What stands around every screen: where one is, how many wait, whether the line is live. */
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { isActive } from "../api/escalation-list";
import { doctorQuery, unresolvedQuery, waitingMemoriesQuery } from "../api/queries";
import { useUnseenAssumptions } from "../assumptions/unseen";
import { GuidePlace } from "../demo/GuidePlace";
import { useAnnouncement } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { NotTakenList } from "../outbox/NotTakenList";
import { PaletteSide } from "../palette/PaletteSide";
import { useRecent } from "../palette/useRecent";
import { PhaseBadge } from "../personas/PhaseBadge";
import { PmSide, QUESTION } from "../pm/PmSide";
import { UndoToast } from "../undo/UndoToast";
import { ConnectionBanner, ConnectionState } from "./ConnectionState";
import { KeyboardHelp } from "./KeyboardHelp";
import { Mark } from "./Mark";
import { Navigation, type Badge } from "./Navigation";
import { PALETTE_KEYS, PALETTE_SHORTCUT } from "./palette-key";
import { linkTo, type Place, type RouteName } from "./routes";
import { ThemeSwitch } from "./ThemeSwitch";
import { useAttention } from "./useAttention";
import { useGlobalKeys } from "./useGlobalKeys";

export function Frame({ place, children }: { place: Place; children: ReactNode }) {
  const [helpIsOpen, setHelpIsOpen] = useState(false);
  const [panelIsOpen, setPanelIsOpen] = useState(false);
  const [paletteIsOpen, setPaletteIsOpen] = useState(false);
  const [guideSlot, setGuideSlot] = useState<HTMLElement | null>(null);
  const inbox = useQuery(unresolvedQuery).data;
  const diagnosis = useQuery(doctorQuery).data;
  const health = diagnosis?.status;
  const unseen = useUnseenAssumptions();
  const memories = useQuery(waitingMemoriesQuery).data?.total ?? 0;
  const announcement = useAnnouncement();
  useGlobalKeys({
    help: () => setHelpIsOpen(true),
    panel: () => openPanel(),
    palette: () => setPaletteIsOpen(true),
  });
  useRecent(place, diagnosis?.workspace);
  useAttention(inbox, place.title, diagnosis?.workspace);

  function openPanel(): void {
    setPanelIsOpen(true);
    // Open already: to where the question is typed.
    document.querySelector<HTMLElement>(QUESTION)?.focus();
  }

  function closePanel(): void {
    setPanelIsOpen(false);
    document.querySelector<HTMLElement>(".pm-button")?.focus();
  }

  const snoozed = inbox?.escalations.filter((escalation) => !isActive(escalation)).length ?? 0;
  const badges: Partial<Record<RouteName, Badge | null>> = {
    inbox: inbox ? { text: String(inbox.total - snoozed), label: "waiting", strong: true } : null,
    assumptions: { text: String(unseen), label: "new", strong: false },
    memory: { text: String(memories), label: "waiting", strong: false },
    health:
      health === "warn" || health === "fail" ? { text: "!", label: "needs a look", strong: false, tone: health } : null,
  };
  return (
    <div className="frame">
      <a className="skip" href="#screen">
        Skip to the content
      </a>
      <header className="frame-head">
        <a className="brand" {...linkTo("floor")}>
          <Mark />
          <span>
            Gemba
            {diagnosis && <span className="brand-place">{diagnosis.workspace}</span>}
          </span>
        </a>
        <button
          type="button"
          className="find-button"
          aria-keyshortcuts={PALETTE_SHORTCUT}
          title={`Find or do (${PALETTE_KEYS.join(" ")})`}
          onClick={() => setPaletteIsOpen(true)}
        >
          <Icon name="search" />
          <span>Find or do</span>
          {PALETTE_KEYS.map((key) => (
            <Kbd key={key}>{key}</Kbd>
          ))}
        </button>
        <Navigation current={place.name} badges={badges} />
        <div className="frame-tools">
          <div ref={setGuideSlot} className="guide-slot" />
          <ConnectionState />
          <PhaseBadge />
          <button
            type="button"
            className="tool pm-button"
            aria-label="Ask the PM"
            title="Ask the PM (q)"
            aria-keyshortcuts="q"
            aria-expanded={panelIsOpen}
            onClick={() => (panelIsOpen ? closePanel() : openPanel())}
          >
            <Icon name="speech" />
          </button>
          <ThemeSwitch />
          <button
            type="button"
            className="tool help-button"
            aria-label="Keyboard map"
            title="Keyboard map (?)"
            aria-keyshortcuts="?"
            onClick={() => setHelpIsOpen(true)}
          >
            <Icon name="keyboard" />
          </button>
        </div>
      </header>
      <main id="screen" className="screen" tabIndex={-1}>
        <ConnectionBanner />
        <NotTakenList except={place.name === "walks" || place.name === "walk" ? "walk" : null} />
        <GuidePlace diagnosis={diagnosis} slot={guideSlot} />
        {children}
      </main>
      <PmSide isOpen={panelIsOpen} place={place} onClose={closePanel} />
      <UndoToast />
      <PaletteSide
        isOpen={paletteIsOpen}
        place={place}
        workspace={diagnosis?.workspace}
        showHelp={() => setHelpIsOpen(true)}
        askPm={openPanel}
        onClose={() => setPaletteIsOpen(false)}
      />
      <KeyboardHelp open={helpIsOpen} place={place.name} onClose={() => setHelpIsOpen(false)} />
      <div className="visually-hidden" role="status" aria-live="polite">
        {announcement}
      </div>
    </div>
  );
}
