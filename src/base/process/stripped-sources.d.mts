/** Types of `stripped-sources.mjs`, which says what each is. */
export function keepStripped(file: string, root: string): () => void;
export function withoutComments(source: string): string;
