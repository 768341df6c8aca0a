program bom
end program