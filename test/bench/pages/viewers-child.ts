import { openViewers } from './viewers.ts';

// Viewers in a process of their own, so that they do not hold up who measures. Tells how many there are and what came to them.

const [url = '', count = '0'] = process.argv.slice(2);
const viewers = await openViewers(url, Number(count));
const tell = () => process.send?.({ bytes: viewers.bytes(), count: viewers.count() });
process.on('message', tell);
process.once('disconnect', () => process.exit());
tell();
