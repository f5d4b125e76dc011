import { defineConfig } from 'drizzle-kit';

// `npm run migration` compares the schema with the newest snapshot and writes the next migration. Afterwards add by hand
// what drizzle-kit cannot express: STRICT on every table, WITHOUT ROWID where the key is not one number.
export default defineConfig({
  dialect: 'sqlite',
  schema: ['src/store/schema.ts', 'src/store/history-tables.ts'],
  out: 'migrations',
});
