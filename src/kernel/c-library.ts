import type Koffi from 'koffi';
import type { LibraryHandle } from 'koffi';
import { beginBinding } from './threads.ts';

/** Binds functions of the C library that this program is linked to, whichever that is. Rejects if there is no binding for the platform. */
export async function bindCLibrary<Bound>(
  bind: (program: LibraryHandle, koffi: typeof Koffi) => Bound,
): Promise<Bound> {
  using _binding = beginBinding();
  const { default: koffi } = await import('koffi');
  return bind(koffi.load(null), koffi);
}
