/** Bounds of the QR code that an e-invoice bears. */

/** More than a printed code of readable size holds; a portal's are about a thousand. */
const MOST_CHARACTERS = 2000;

export const fitsQr = (text: string): boolean => text.length > 0 && text.length <= MOST_CHARACTERS;
