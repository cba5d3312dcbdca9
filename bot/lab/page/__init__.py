"""The page of `dabir demo`: the real bot, watched and disturbed from a browser, all on loopback.

people.py      who plays, and the settings the bot gets
child.py       the bot as a process that can be killed and started again
bot.py         what runs in that process: the bot, its memory behind forgetful.py
switches.py    the faults
records.py     what the bot wrote into its database, read without touching it
phones.py      what each person sees
server.py      the page's files, its live feed and what the page may ask for
show.py        all of it together, until it is told to stop
files/         HTML, CSS and JavaScript as the browser gets them; nothing is built or fetched
"""
