/** An agent's Markdown, set: what it wrote becomes headings, lists, tables and code, and nothing becomes a link or markup. */
import { memo, type ReactNode } from "react";
import { blocksOf, spansOf, type Block } from "./markdown";
import { plainText } from "./plain-text";

interface Props {
  text: string;
  /** Of the highest heading. */
  level?: 3 | 4;
}

export const Markdown = memo(function Markdown({ text, level = 4 }: Props) {
  return (
    <div className="markdown" dir="auto">
      {blocksOf(plainText(text)).map((block, index) => (
        <BlockView key={index} block={block} level={level} />
      ))}
    </div>
  );
});

function Spans({ text }: { text: string }): ReactNode {
  return spansOf(text).map((span, index) => {
    if (span.kind === "code")
      return (
        <code key={index} className="code-span" dir="ltr">
          {span.text}
        </code>
      );
    if (span.kind === "strong") return <strong key={index}>{span.text}</strong>;
    return span.kind === "soft" ? <em key={index}>{span.text}</em> : span.text;
  });
}

function BlockView({ block, level }: { block: Block; level: number }) {
  switch (block.kind) {
    case "heading": {
      const Heading = `h${Math.min(6, level + block.level - 1)}` as "h4";
      return (
        <Heading data-level={block.level}>
          <Spans text={block.text} />
        </Heading>
      );
    }
    case "words":
      return (
        <p>
          <Spans text={block.text} />
        </p>
      );
    case "quote":
      return (
        <blockquote>
          <Spans text={block.text} />
        </blockquote>
      );
    case "code":
      return (
        <pre tabIndex={0} dir="ltr">
          <code>{block.text}</code>
        </pre>
      );
    case "rule":
      return <hr />;
    case "list": {
      const List = block.ordered ? "ol" : "ul";
      return (
        <List {...(block.ordered && { start: block.start })}>
          {block.items.map(({ depth, text }, index) => (
            <li key={index} data-depth={depth || undefined}>
              <Spans text={text} />
            </li>
          ))}
        </List>
      );
    }
    case "table":
      return (
        <div className="markdown-table" tabIndex={0} role="group" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index} scope="col">
                    <Spans text={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.slice(0, block.head.length).map((cell, at) => (
                    <td key={at}>
                      <Spans text={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}
