/** What the value of a request header may be like: no line breaks or control characters, and nothing beyond Latin-1. */
export const headerText = /^[\t\u{20}-\u{7e}\u{80}-\u{ff}]*$/u;

/** The most characters of it. */
export const longestHeader = 8_192;

/** Whether a text can be sent as the value of a header. */
export function isHeaderText(text: string): boolean {
  return text.length <= longestHeader && headerText.test(text);
}
