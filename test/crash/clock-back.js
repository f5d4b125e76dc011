// Loaded before the program: its wall clock is as far back as the environment says, in every thread.
const back = Number(process.env.CLOCK_BACK_MS);
const { now } = Date;
Date.now = () => now() - back;
