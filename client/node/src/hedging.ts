/** Sends a call once more while it is not answered: to the next server. The
 * first answer counts, and the other attempts are cancelled. All count as
 * attempts of Retry. Streams are not hedged. An overload is not made worse by it:
 * ten calls may be hedged at once, then one for two that were answered in time. */
export interface Hedging {
  /** Seconds before the next attempt. */
  after: number;
  /** Attempts at the same time. Default: 2. */
  maxRunning?: number;
}

/** Of calls that may be hedged. */
export class Budget {
  #left = 10;

  /** Whether a call may be hedged. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  /** A call was answered in time. */
  answered() {
    this.#left = Math.min(10, this.#left + 0.5);
  }
}
