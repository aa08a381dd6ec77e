/**
 * The live line to the server: one fetch of /api/events that resumes after the last event seen, notices a dead line by
 * missing heartbeats, and comes back by itself after an outage or sleep. Owned by line.ts; knows nothing of the cache.
 */
import { currentToken, forgetToken } from "../api/token";
import { retryDelay } from "./backoff";
import { SseParser, type Message } from "./sse-parser";

/** The server sends a heartbeat every 15 s; two missed ones and a bit is a dead line. */
const SILENCE_LIMIT = 40_000;
/** After waking, a line that was silent longer than one heartbeat is not trusted. */
const DOUBTFUL_SILENCE = 20_000;

export type Connection =
  | { phase: "connecting" }
  | { phase: "live" }
  | { phase: "waiting"; retryAt: number; since: number }
  | { phase: "signed-out" };

export interface StreamHooks {
  onMessage: (message: Message) => void;
  onConnection: (connection: Connection) => void;
}

export class LiveStream {
  readonly #path: string;
  readonly #hooks: StreamHooks;
  #lastSeen: number | null;
  #failures = 0;
  #lostAt: number | null = null;
  #heardAt = 0;
  #phase: Connection["phase"] = "connecting";
  #attempt: AbortController | null = null;
  #retry: number | undefined;
  #watchdog: number | undefined;

  constructor(path: string, after: number | null, hooks: StreamHooks) {
    this.#path = path;
    this.#lastSeen = after;
    this.#hooks = hooks;
  }

  /** The sequence number up to which everything has been told; null when it started from "now" and nothing happened. */
  get lastSeen(): number | null {
    return this.#lastSeen;
  }

  start(): void {
    addEventListener("online", this.#wake);
    addEventListener("pageshow", this.#wake);
    document.addEventListener("visibilitychange", this.#wake);
    void this.#connect();
  }

  stop(): void {
    removeEventListener("online", this.#wake);
    removeEventListener("pageshow", this.#wake);
    document.removeEventListener("visibilitychange", this.#wake);
    clearTimeout(this.#retry);
    clearTimeout(this.#watchdog);
    this.#attempt?.abort();
    this.#attempt = null;
  }

  reconnectNow(): void {
    this.#failures = 0;
    void this.#connect();
  }

  #wake = (): void => {
    if (document.visibilityState === "hidden") return;
    const silent = Date.now() - this.#heardAt > DOUBTFUL_SILENCE;
    if (this.#phase === "waiting" || (this.#phase === "live" && silent)) this.reconnectNow();
  };

  async #connect(): Promise<void> {
    clearTimeout(this.#retry);
    this.#attempt?.abort();
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#report({ phase: "connecting" });
    this.#listenForSilence(attempt);
    try {
      await this.#read(attempt.signal);
    } catch {
      // A refused connection, a cut line and the watchdog's abort are all the same to the operator: not live.
    }
    if (this.#attempt === attempt && this.#phase !== "signed-out") this.#retryLater();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const token = currentToken();
    const response = await fetch(this.#path, {
      signal,
      cache: "no-store",
      headers: {
        Accept: "text/event-stream",
        Authorization: `Bearer ${token ?? ""}`,
        ...(this.#lastSeen !== null && { "Last-Event-ID": String(this.#lastSeen) }),
      },
    });
    if (response.status === 401) {
      this.#report({ phase: "signed-out" });
      forgetToken(token);
    }
    if (!response.ok || response.body === null) return;
    this.#failures = 0;
    this.#lostAt = null;
    this.#report({ phase: "live" });
    const parser = new SseParser();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      this.#listenForSilence(this.#attempt);
      for (const message of parser.feed(value)) this.#tell(message);
    }
  }

  #tell(message: Message): void {
    const sequence = Number(message.id ?? Number.NaN);
    if (Number.isSafeInteger(sequence)) this.#lastSeen = sequence;
    this.#hooks.onMessage(message);
  }

  #listenForSilence(attempt: AbortController | null): void {
    this.#heardAt = Date.now();
    clearTimeout(this.#watchdog);
    this.#watchdog = window.setTimeout(() => attempt?.abort(), SILENCE_LIMIT);
  }

  #retryLater(): void {
    clearTimeout(this.#watchdog);
    const delay = retryDelay(this.#failures, Math.random());
    this.#failures += 1;
    this.#lostAt ??= Date.now();
    this.#report({ phase: "waiting", retryAt: Date.now() + delay, since: this.#lostAt });
    this.#retry = window.setTimeout(() => void this.#connect(), delay);
  }

  #report(connection: Connection): void {
    this.#phase = connection.phase;
    this.#hooks.onConnection(connection);
  }
}
