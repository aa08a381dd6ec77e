/** Server-sent events from a stream of text: feed chunks as they come, get whole messages. Pure; the reader is stream.ts. */

export interface Message {
  id: string | null;
  event: string;
  data: string;
}

/** Chunks may end anywhere, in the middle of a line or between the two halves of a CRLF. */
export class SseParser {
  #rest = "";
  #id: string | null = null;
  #event = "";
  #data: string[] = [];

  feed(chunk: string): Message[] {
    const messages: Message[] = [];
    const text = this.#rest + chunk;
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") this.#finish(messages);
      else this.#read(line);
    }
    return messages;
  }

  #read(line: string): void {
    if (line.startsWith(":")) return;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.#id = value;
    else if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
  }

  #finish(messages: Message[]): void {
    if (this.#data.length > 0 || this.#event !== "") {
      messages.push({ id: this.#id, event: this.#event || "message", data: this.#data.join("\n") });
    }
    this.#id = null;
    this.#event = "";
    this.#data = [];
  }
}
