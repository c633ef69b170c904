/**
 * Token counts guessed from bytes: for limits and planning before a call, and for billing what a client left unread.
 * Never shown as exact. Holds use the bound, which errs high: one too small would let a balance go below zero.
 */

/** English prose; code and JSON run nearer to 3, CJK nearer to 2. */
export const BYTES_PER_TOKEN = 4;
/** How far below the truth an estimate may be: CJK text at 2 bytes a token. */
const BOUND_FACTOR = 2;
/** Chat framing that no count of the text sees: a few tokens a message and a tool. */
const FRAMING_TOKENS = 64;
/** What a provider's tiling charges for one large image in high detail is of this order. */
const TOKENS_PER_IMAGE = 1600;

/** What the bound of an estimate holds for each image. */
export const IMAGE_TOKEN_BOUND = TOKENS_PER_IMAGE * BOUND_FACTOR;

/** @param proseBytes bytes of the prompt's JSON without data URLs and base64. */
export const estimatePromptTokens = (proseBytes: number, images: number): number =>
  Math.ceil(proseBytes / BYTES_PER_TOKEN) + images * TOKENS_PER_IMAGE;

/** What a prompt of this estimate may be reported as at the most: the base of a hold. */
export const promptTokenBound = (estimate: number): number => estimate * BOUND_FACTOR + FRAMING_TOKENS;

/** The same for a prompt whose text was counted by a tokenizer. */
export const countedTokenBound = (counted: number): number => Math.ceil(counted * 1.1) + FRAMING_TOKENS;

/**
 * Tokens delivered, from bytes of generated text. Never zero when anything was delivered: a useful prefix is
 * never free.
 */
export const estimateOutputTokens = (textBytes: number): number => Math.ceil(textBytes / BYTES_PER_TOKEN);
