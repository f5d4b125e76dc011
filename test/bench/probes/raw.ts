import { createSocket } from 'node:dgram';
import { get } from 'node:http';
import { connect } from 'node:net';
import { answerQuestions } from '../tools/processes.ts';
import { type Check, type Load, runLoad } from './subject.ts';

// The least that Node can do: no deadline, no gate, no measuring. A check begins with a new socket and ends when it is closed.

const query = Buffer.from('1234010000010000000000000468 6f7374076578616d706c650000010001'.replace(' ', ''), 'hex');

const check: Check = async (type, address, ports) => {
  switch (type) {
    case 'http':
      return fetchOnce(address, ports.http);
    case 'tcp':
      return shakeHands(address, ports.tcp);
    case 'dns':
      return converse(address, ports.dns, query);
    case 'udp':
      return converse(address, ports.udp, Buffer.from('hello'));
    case 'ping':
      throw new Error('Node has no ICMP');
  }
};

async function shakeHands(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, autoSelectFamily: false });
    let connected = false;
    socket.once('connect', () => {
      connected = true;
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(connected));
  });
}

async function fetchOnce(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let ok = false;
    const request = get({ host, port, path: '/', agent: false }, (response) => {
      response.resume();
      response.once('end', () => {
        ok = response.statusCode === 200;
      });
    });
    request.on('error', () => {});
    request.once('close', () => resolve(ok));
  });
}

async function converse(address: string, port: number, datagram: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket({ type: 'udp4', lookup: (name, _options, done) => done(null, name, 4) });
    socket.once('message', () => {
      socket.close();
      resolve(true);
    });
    socket.connect(port, address, () => socket.send(datagram));
  });
}

answerQuestions(async (load: Load) => runLoad(check, load));
