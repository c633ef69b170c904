/** The owner of responses as a part of names in Redis: without the `/` that separates parts, which clients may use in ids. */
export const ownerPart = (owner: string): string => owner.replaceAll("/", "~");
