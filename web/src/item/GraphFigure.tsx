/** What blocks an item and what it unblocks, as a picture of links, with the same in words. */
import { useQuery } from "@tanstack/react-query";
import type { ItemGraph, WorkItem } from "../api/types";
import { graphQuery } from "../api/work-queries";
import { linkToOne } from "../app/routes";
import { STATES } from "../board/wording";
import { firstLine } from "../ui/plain-text";
import { useNarrow } from "../ui/useNarrow";
import { layOut, toldOf, type Layout, type Placed } from "./graph-layout";

const MOST_LISTED = 20;
const LETTERS = { across: 24, down: 20 };

export function GraphFigure({ item }: { item: WorkItem }) {
  const graph = useQuery(graphQuery(item.id)).data;
  const direction = useNarrow() ? "down" : "across";
  if (graph === undefined) return null;
  const layout = layOut(graph, direction);
  return (
    <section className="section" aria-labelledby="item-graph">
      <h2 id="item-graph" className="section-title">
        What hangs on it
      </h2>
      {layout.placed.length > 1 && (
        <figure className="graph">
          <Picture graph={graph} layout={layout} letters={LETTERS[direction]} />
          <figcaption className="visually-hidden">{toldOf(graph)}</figcaption>
          {layout.left > 0 && <p className="card-hint">and {layout.left} more that are not drawn; see the relations</p>}
        </figure>
      )}
      <Chain graph={graph} />
      <Waiting graph={graph} />
      {!graph.complete && <p className="card-hint">There is more than was looked at: these are at least so many.</p>}
    </section>
  );
}

function Picture({ graph, layout, letters }: { graph: ItemGraph; layout: Layout; letters: number }) {
  const { width, height, placed, edges } = layout;
  return (
    <svg
      viewBox={`-4 -4 ${width + 8} ${height + 8}`}
      width={width + 8}
      height={height + 8}
      role="group"
      aria-label={`What blocks ${graph.id}, and what it blocks`}
    >
      <defs>
        <marker id="graph-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0.5 7 4 0 7.5Z" />
        </marker>
      </defs>
      {edges.map(({ from, to, line, onPath }) => (
        <path key={`${from} ${to}`} className="graph-edge" data-path={onPath || undefined} d={line} markerEnd="url(#graph-arrow)" />
      ))}
      {placed.map((one) => (
        <NodeBox key={one.node.id} placed={one} size={layout.node} isSelf={one.node.id === graph.id} letters={letters} />
      ))}
    </svg>
  );
}

interface NodeProps {
  placed: Placed;
  size: { width: number; height: number };
  isSelf: boolean;
  letters: number;
}

function NodeBox({ placed: { node, level, onPath, x, y }, size, isSelf, letters }: NodeProps) {
  const what = level < 0 ? "before it" : level > 0 ? "after it" : "this item";
  const state = STATES[node.state].toLowerCase();
  const box = (
    <>
      <rect width={size.width} height={size.height} rx="8">
        <title>{`${firstLine(node.title, 200)} (${node.id}, ${state}, ${what})`}</title>
      </rect>
      <text x="10" y="20" className="graph-title">
        {firstLine(node.title, letters)}
      </text>
      <text x="10" y="37" className="graph-id">
        {firstLine(`${node.id} · ${node.ready ? "ready" : state}`, letters + 4)}
      </text>
    </>
  );
  return (
    <g
      className="graph-node"
      transform={`translate(${x} ${y})`}
      data-path={onPath || undefined}
      data-self={isSelf || undefined}
      data-over={node.state === "done" || node.state === "cancelled" || undefined}
    >
      {isSelf ? (
        box
      ) : (
        <a {...linkToOne("item", node.id)}>{box}</a>
      )}
    </g>
  );
}

/** The chain that takes longest, the first to be done first. */
function Chain({ graph }: { graph: ItemGraph }) {
  const titles = new Map(graph.nodes.map(({ id, title }) => [id, title]));
  if (graph.critical_path.length < 2) return null;
  const weight = graph.critical_weight > 0 ? `, ${graph.critical_weight.toLocaleString()} tokens estimated` : "";
  return (
    <details className="graph-more">
      <summary>
        The longest chain of open work through it has {graph.critical_path.length} items{weight}
      </summary>
      <ol className="chain">
        {graph.critical_path.map((id) => (
          <li key={id} dir="auto" aria-current={id === graph.id ? "true" : undefined}>
            {id === graph.id ? "This item" : <a {...linkToOne("item", id)}>{firstLine(titles.get(id) ?? id, 100)}</a>}{" "}
            <span className="item-id">{id}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Waiting({ graph: { blast_radius, unblocks } }: { graph: ItemGraph }) {
  if (blast_radius.length === 0) return <p className="card-hint">Nothing open waits for it.</p>;
  const freed = new Set(unblocks);
  const sorted = [...unblocks, ...blast_radius.filter((id) => !freed.has(id))];
  const makes = unblocks.length === 0 ? "none of it would be ready by that alone" : `finishing it makes ${unblocks.length} ready`;
  return (
    <details className="graph-more">
      <summary>
        {blast_radius.length === 1 ? "1 item waits for it" : `${blast_radius.length} items wait for it`}; {makes}
      </summary>
      <ul className="waiting">
        {sorted.slice(0, MOST_LISTED).map((id) => (
          <li key={id}>
            <a {...linkToOne("item", id)}>{id}</a>
            {freed.has(id) && " would be ready"}
          </li>
        ))}
        {sorted.length > MOST_LISTED && <li>and {sorted.length - MOST_LISTED} more</li>}
      </ul>
    </details>
  );
}
