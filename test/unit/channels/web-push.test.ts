import { createECDH } from 'node:crypto';
import { expect, test } from 'vitest';
import { encryptPush, encryptWith, mostPushBytes, pushKeysOf, vapidHeader } from '#channels/web-push.ts';
import { createPushBrowser, verifiedVapid } from '../../support/push-service.ts';

test('a message is encrypted as the example of RFC 8291, appendix A', () => {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(Buffer.from('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw', 'base64url'));
  const receiver = {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  };
  const salt = Buffer.from('DGv6ra1nlYgDCS1FRnbzlw', 'base64url');
  const body = encryptWith('When I grow up, I want to be a watermelon', receiver, pair, salt);
  expect(body.toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  );
});

test('the longest message fits what every push service takes, and only its browser reads it', () => {
  const [browser, other] = [createPushBrowser(), createPushBrowser()];
  const text = 'x'.repeat(mostPushBytes);
  const body = encryptPush(text, browser);
  expect(body).toHaveLength(4_096);
  expect(browser.decrypt(body)).toBe(text);
  expect(() => other.decrypt(body)).toThrow(/unable to authenticate/);
});

test('a push service can verify who sends, for how long and to whom', () => {
  const keys = pushKeysOf('secret of the installation');
  const now = Date.parse('2026-11-23T12:00:00Z');
  const sent = { endpoint: 'https://push.example/send/abc?x=1', contact: 'https://watch.example', now };
  const { key, head, claims } = verifiedVapid(vapidHeader(keys, sent));
  expect(key).toBe(keys.publicKey);
  expect(head).toEqual({ typ: 'JWT', alg: 'ES256' });
  // RFC 8292, 2: at most 24 hours.
  expect(claims).toEqual({ aud: 'https://push.example', exp: now / 1_000 + 43_200, sub: 'https://watch.example' });
  expect(verifiedVapid(vapidHeader(keys, { ...sent, contact: null })).claims).not.toHaveProperty('sub');
  expect(pushKeysOf('secret of the installation').publicKey).toBe(keys.publicKey);
  expect(pushKeysOf('another one').publicKey).not.toBe(keys.publicKey);
});
