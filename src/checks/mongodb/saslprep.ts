// RFC 3454, table C.1.2: spaces that are not ASCII.
const otherSpaces = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g;
// RFC 3454, table B.1: commonly mapped to nothing. One alternative each, because many of them combine with their neighbours.
const dropped = /\u00ad|\u034f|\u1806|\u180b|\u180c|\u180d|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g;
// RFC 4013, section 2.3: controls, private use, surrogates, no characters, and what changes how other characters look.
const prohibited =
  /[\p{Cc}\p{Co}\p{Cs}\p{Noncharacter_Code_Point}\u0340\u0341\u06dd\u070f\u180e\u200e\u200f\u2028-\u202e\u2061-\u2063\u206a-\u206f\u2ff0-\u2ffb\ufff9-\ufffd\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}]/u;

/**
 * A password in the form in which SCRAM-SHA-256 takes it (SASLprep, RFC 4013); null if it contains what no such password may.
 * Unassigned characters and mixed directions are left for the server to refuse: they change nothing in the others.
 */
export function saslprep(password: string): string | null {
  const text = password.replaceAll(otherSpaces, ' ').replaceAll(dropped, '').normalize('NFKC');
  return prohibited.test(text) ? null : text;
}
