/** Reports an end, once. Most objects that have one are never waited for, so its promise is created when it is first asked for. */
export class EndSignal {
  #isOver = false;
  #awaited: PromiseWithResolvers<void> | null = null;

  /** Resolves when it has ended. */
  get promise(): Promise<void> {
    if (this.#awaited === null) {
      this.#awaited = Promise.withResolvers<void>();
      if (this.#isOver) this.#awaited.resolve();
    }
    return this.#awaited.promise;
  }

  end(): void {
    this.#isOver = true;
    this.#awaited?.resolve();
  }
}
