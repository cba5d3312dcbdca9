"""Failure drills: named misfortunes, played against the real bot, each a pass or a fail.

catalogue.py   all drills by number; the drills themselves: people, checking, turns, delivery,
               remembering, processes
record.py      the stage of a drill: its steps and its checks
running.py     runs drills, a few at a time; report.py prints what came of them
checklist.py   what stands behind each point of the release checklist
breaking.py    takes one protection away; proving.py shows that a drill notices each
process.py     the bot as a process that shares its database, hears updates from a pipe, or is
               broken on purpose
"""
