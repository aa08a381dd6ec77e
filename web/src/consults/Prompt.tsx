/** What the persona was told, by layers: what each weighs, and what was dropped. Folded, and laid out when it is wanted. */
import { useState } from "react";
import type { Consult } from "../api/types";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { count, LAYERS } from "./wording";

const MOST_SHOWN = 60_000;

export function Prompt({ composed, id }: { composed: Consult["composed"]; id: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="fold consult-prompt" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="chevron" size={12} />
        <h3>What it was told</h3>
        <span className="count">
          {count(composed.tokens)} of {count(composed.cap)} tokens
        </span>
      </summary>
      {open && (
        <ol className="layers">
          {composed.layers.map((layer) => (
            <Layer key={layer.name} layer={layer} id={id} />
          ))}
        </ol>
      )}
    </details>
  );
}

function Layer({ layer, id }: { layer: Consult["composed"]["layers"][number]; id: string }) {
  const [open, setOpen] = useState(false);
  const { text, dropped } = layer;
  return (
    <li>
      <details className="fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name="chevron" size={12} />
          <h4>{LAYERS[layer.name]}</h4>
          <span className="count">{count(layer.tokens)} tokens</span>
        </summary>
        {open && (
          <pre className="raw-text" tabIndex={0} role="region" aria-label={LAYERS[layer.name]} dir="auto">
            {plainText(text.slice(0, MOST_SHOWN))}
          </pre>
        )}
        {open && text.length > MOST_SHOWN && (
          <p className="more">
            {count(text.length - MOST_SHOWN)} more characters are in the API: <code>/api/consults/{id}</code>
          </p>
        )}
      </details>
      {dropped.length > 0 && (
        <p className="mark" data-tone="warn">
          <Icon name="warn" />
          <span>Dropped: {plainText(dropped.join(", "))}</span>
        </p>
      )}
    </li>
  );
}
