import { bytesOf, type Payload } from '../payload.ts';

/** The protocols whose requests are ready. */
export const udpPresets = ['dns', 'ntp', 'stun'] as const;
export type UdpPreset = (typeof udpPresets)[number];

/** Whether what is to be sent is the name of a preset. */
export function isUdpPreset(send: unknown): send is UdpPreset {
  return udpPresets.some((name) => name === send);
}

/** The bytes of what is to be sent if that is no preset. */
export function payloadBytes(send: Payload | { readonly text: string }): Buffer {
  return bytesOf(typeof send === 'object' && 'text' in send ? send.text : send);
}
